"""Reports that are followed up: two topics of one town, and what a reviser sees and answers."""

from __future__ import annotations

import re
from typing import Any

from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result, Section
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

ASKED = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


async def ask(question: str, settings: Settings, follows: str = "") -> Result:
    return await Session.start(question, settings=settings, follows=follows).result()


def of(model: Model, name: str) -> list[ChatRequest]:
    return [request for request in model.requests if request.schema_name == name]


def shown(request: ChatRequest) -> list[tuple[str, str]]:
    """The sections that a reviser sees: heading and Markdown."""
    found = re.findall(
        r"^Section \d+: (.*)\n<page_text>\n((?s:.*?))\n</page_text>", request.user, re.MULTILINE
    )
    return [(heading, text) for heading, text in found]


def changing(number: int, markdown: str = "", heading: str = "Inhabitants in short") -> Any:
    """A reviser that changes one section: by its own first line, where nothing else is said."""

    def answer(request: ChatRequest) -> dict[str, Any]:
        told = markdown or shown(request)[number - 1][1].split("\n\n")[0]
        changed = {"number": number, "heading": heading, "markdown": told}
        return {"title": "", "sections": [changed]}

    return answer


def body(result: Result) -> list[Section]:
    return [s for s in result.document.sections if s.kind in ("summary", "topic", "code")]


def text_of(result: Result, section: Section) -> str:
    """A section as it stands in the Markdown of the report."""
    _, _, rest = result.report.partition(f"## {section.heading}\n")
    return rest.partition("\n## ")[0]


def verdicts(result: Result, section: Section) -> list[tuple[str, str, str]]:
    said = {sentence.text for sentence in section.sentences}
    return [(c.sentence, c.evidence_id, c.verdict) for c in result.citations if c.sentence in said]


def unnumbered(text: str) -> str:
    return re.sub(r"\[\d+\]", "[n]", text)


def tell_of_a_ferry(model: Model, searx: Searx, world: World) -> None:
    """What a follow-up adds: the costs of a ferry, which one page tells and the reviser says."""
    said = "<p>The ferry to Port Aldermere costs four crowns a head.</p><p>It leaves at nine.</p>"
    page = f"<title>Ferry</title><main><h1>Ferry</h1>{said}</main>"
    searx.script("ferry", [world.put("forum", "/ferry", page)])
    play(model, {"Costs": "Aldermere ferry costs"}, keywords={"Costs": "four crowns"})
    model.script("TurnAnswer", {"kind": "more", "language": ""})

    def revision(request: ChatRequest) -> dict[str, Any]:
        new = re.search(r"^New evidence: (.*)$", request.user, re.MULTILINE)
        assert new
        told = f"The ferry to Port Aldermere costs four crowns a head. [{new[1].split(', ')[0]}]"
        return {"title": "", "sections": [{"number": 0, "heading": "Costs", "markdown": told}]}

    model.script("RevisionAnswer", revision)
