"""Records the sessions that `test_recorded.py` replays: `python -m tests.recorded.record`.

They are asked of the test world. Record them anew when a prompt, a reader or what a run asks has
changed on purpose, look at what the reports have become, and run `make docs`: the tour through the
code (docs/tour.md) follows the one with a model.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from spadework.sessions.one_call import research
from tests.world.background import Background
from tests.world.brain import evidence, play, section
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

FOLDER = Path(__file__).parent
QUESTION = "How many people live in Port Aldermere, and how tall is its lighthouse?"
#: The topics of its plan: what each asks, its query, and a word that proves it.
TOPICS = {
    "Inhabitants": (
        "How many people live in Port Aldermere?",
        "Port Aldermere inhabitants",
        "inhabitants",
    ),
    "Lighthouse": (
        "How tall is the lighthouse of Port Aldermere?",
        "Port Aldermere lighthouse",
        "metres tall",
    ),
}
#: What is searched while nothing proves a topic.
GAPS = {"Lighthouse": "Gannet Point lighthouse height"}
#: What the first round finds: of the lighthouse two pages that do not say how tall it is.
FOUND = {
    "Inhabitants": (("news", "/2026/census"), ("archive", "/population.csv")),
    "Lighthouse": (("blog", "/posts/tea-room"), ("archive", "/reports/harbour-2025.pdf")),
}
#: A sentence of the writer's that no evidence bears out.
INVENTED = "It was painted red in 1931."
#: Nothing is asked by a JSON schema when it comes to this: the next rule answers.
PASSED_ON = Fault("reject_json_schema")
#: What a replay needs of a session.
FILES = ("session_metadata.json", "result.json", "session.sqlite")


def main() -> None:
    """Record both sessions."""
    with Background() as background:
        world, model = World(background), Model(background)
        search = Searx(background, world)
        servers = {**world.env, **search.env}
        for name, found in FOUND.items():
            search.script(TOPICS[name][1], [world.url(*place) for place in found])
        _play(model)
        _record("with-model", QUESTION, servers | model.env)
        search.reset()
        _record("without-model", "How many inhabitants has Port Aldermere?", servers)


def _play(model: Model) -> None:
    """Script the model. One reply is repaired, one sentence invented, and the endpoint takes no
    JSON schema.
    """
    queries = {name: query for name, (_, query, _) in TOPICS.items()}
    proofs = {name: word for name, (_, _, word) in TOPICS.items()}
    play(model, queries, keywords=proofs, gaps=GAPS)
    model.script("PlanAnswer", _planned)
    model.script("OutlineAnswer", _outlined)
    model.script("SectionAnswer", _written)
    model.script("SectionAnswer", "No JSON at all.", PASSED_ON)
    model.script("", Fault("reject_json_schema"))


def _planned(request: ChatRequest) -> dict[str, Any]:
    topics = [
        {
            "name": name,
            "question": question,
            "must_cover": [],
            "queries": [{"text": query, "kind": "original"}],
        }
        for name, (question, query, _) in TOPICS.items()
    ]
    head = {"question_type": "general", "complexity": "moderate", "freshness": "any"}
    return head | {"language": "en", "subjects": ["Port Aldermere"], "topics": topics}


def _outlined(request: ChatRequest) -> dict[str, Any]:
    """A section for every topic, with the entries that hold its word."""
    ledger = re.findall(r"^(E\d+) ·(.*)$", request.user, re.MULTILINE)
    sections: list[dict[str, Any]] = [
        {
            "heading": name,
            "shows": question,
            "form": "prose",
            "columns": [],
            "evidence_ids": [id_ for id_, line in ledger if word in line],
            "words": 50,
        }
        for name, (question, _, word) in TOPICS.items()
    ]
    told = {id_ for one in sections for id_ in one["evidence_ids"]}
    left_out = [id_ for id_, _ in ledger if id_ not in told]
    return {"title": "", "answer": "", "sections": sections, "left_out": left_out}


def _written(request: ChatRequest) -> dict[str, Any]:
    """A section of its quotes; that on the lighthouse with a sentence more."""
    items = evidence(request)
    answer = section(items)
    if TOPICS["Lighthouse"][2] in answer["markdown"]:
        answer["markdown"] += f"\n\n{INVENTED} [{items[0][0]}]"
    return answer


def _nobodys(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def _record(name: str, question: str, env: dict[str, str]) -> None:
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "SPADEWORK_MODEL"):
        os.environ.pop(variable, None)
    os.environ.update(env)
    with tempfile.TemporaryDirectory() as home:
        os.environ["SPADEWORK_HOME"] = home
        result = asyncio.run(research(question))
        folder = Path(result.session_dir)
        plain = result.model_copy(update={"session_dir": ""})
        (folder / "result.json").write_text(plain.model_dump_json(indent=1))
        with closing(sqlite3.connect(folder / "session.sqlite")) as db:
            kept = ("exchanges", "bodies")
            tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                if table not in kept:
                    db.execute(f"DROP TABLE {table}")
            db.commit()
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("VACUUM")
        with tarfile.open(FOLDER / f"{name}.tar.xz", "w:xz") as archive:
            for file in FILES:
                archive.add(folder / file, f"{folder.name}/{file}", filter=_nobodys)
        (FOLDER / f"{name}.md").write_text(result.report, encoding="utf-8")


if __name__ == "__main__":
    main()
