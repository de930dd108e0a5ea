"""The values that `docs/tour.md` shows at its stops, of a recorded session that is replayed for it.
`docs/generate.py` writes them into the page.
"""

from __future__ import annotations

import asyncio
import json
import re
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from spadework.budget import Budget
from spadework.events import (
    Assessed,
    Distilled,
    Event,
    Finished,
    Planned,
    Proven,
    Read,
    Scored,
    Searched,
    Selected,
    Started,
)
from spadework.graph.effort.workload import workload
from spadework.graph.routes import first_tasks
from spadework.sessions.replay import replay
from spadework.sessions.storage.files import read_metadata
from spadework.settings import Settings

RECORDED = Path(__file__).resolve().parent.parent / "tests" / "recorded" / "with-model.tar.xz"
#: The topic that is followed, and the page.
TOPIC, PAGE = "Inhabitants", "census"
#: Characters of a text and items of a list that are shown; and columns of a line.
CHARS, ITEMS, COLUMNS = 150, 3, 140
#: The sites of the test world by their hosts; their ports change with every recording.
SITES = {1: "encyclopedia", 3: "news", 5: "blog", 7: "archive"}

E = TypeVar("E")


@dataclass(frozen=True)
class Seen:
    """What was seen of the run: its events, and with which limits and settings it ran."""

    events: list[Event]
    budget: Budget
    settings: Settings

    def of(self, kind: type[E], **wanted: Any) -> list[E]:
        """Return the events of a kind whose fields are as wanted."""
        found = [event for event in self.events if isinstance(event, kind)]
        return [e for e in found if all(getattr(e, name) == wanted[name] for name in wanted)]


def with_values(page: str) -> str:
    """Return the tour with the values of its stops."""
    seen = replayed()

    def shown(match: re.Match[str]) -> str:
        value = _json(_short(STOPS[match[2]](seen)))
        return f"{match[1]}```json\n{value}\n```\n{match[3]}"

    return re.sub(r"(<!-- value (\w+) -->\n).*?(<!-- /value -->)", shown, page, flags=re.DOTALL)


def replayed() -> Seen:
    """Replay the recorded session, and watch."""
    events: list[Event] = []
    with tempfile.TemporaryDirectory(prefix="spadework-tour-") as home:
        with tarfile.open(RECORDED) as archive:
            archive.extractall(Path(home, "sessions"), filter="data")
        [folder] = Path(home, "sessions").iterdir()
        limits = read_metadata(folder).limits
        asyncio.run(replay(Path(home), folder.name, watch=events.append))
    # What the session ran with, whatever the environment says.
    settings = Settings.load(effort="normal", preset="default")
    return Seen(events, Budget(**vars(limits)), settings)


def _look(seen: Seen) -> Any:
    [broad] = seen.of(Searched, topic="")
    titles = [hit.title for hit in broad.found]
    return {**_pick(broad, "query", "provider", "hits"), "titles": titles}


def _plan(seen: Seen) -> Any:
    [planned] = seen.of(Planned)
    topics = [
        {**_pick(one, "name", "question"), "queries": [query.text for query in one.queries]}
        for one in planned.plan.topics
    ]
    return {**_pick(planned.plan, "question_type", "complexity"), "topics": topics}


def _tasks(seen: Seen) -> Any:
    [planned] = seen.of(Planned)
    load = workload(planned.plan, seen.settings, model=True)
    return [
        {
            "topic": task.topic.name,
            "queries": [query.text for query in task.queries],
            **_pick(task, "round", "pages"),
        }
        for task in first_tasks(planned.plan, seen.budget, load)
    ]


def _search(seen: Seen) -> Any:
    [searched] = seen.of(Searched, topic=TOPIC)
    found = [_pick(hit, "url", "title", "relevance", "parts") for hit in searched.found]
    return {**_pick(searched, "query", "provider"), "found": found}


def _selection(seen: Seen) -> Any:
    [selected] = seen.of(Selected, topic=TOPIC)
    hits = [_pick(hit, "url", "fate", "why", "relevance", "rrf") for hit in selected.hits]
    return {**_pick(selected, "threshold"), "hits": hits}


def _page(seen: Seen) -> Any:
    [page] = [read for read in seen.of(Read, topic=TOPIC, reason="") if PAGE in read.url]
    shown = ("url", "title", "level", "status", "media_type", "bytes", "chars", "content_hash")
    return _pick(page, *shown)


def _passages(seen: Seen) -> Any:
    distilled = [_pick(one, "topic", "need", "passages") for one in seen.of(Distilled, round=1)]
    return sorted(distilled, key=str)


def _coverage(seen: Seen) -> Any:
    [assessed] = seen.of(Assessed, round=1)
    shown = ("topic", "covered", "score", "evidence_ids", "gaps")
    return [_pick(one, *shown) for one in assessed.coverage]


def _quote(seen: Seen) -> Any:
    [quote] = [e for new in seen.of(Proven) for e in new.evidence if e.topic == TOPIC]
    return _pick(quote, "id", "quote", "url", "start", "end", "content_hash", "heading")


def _round(seen: Seen) -> Any:
    first, second = seen.of(Assessed)
    [gap] = [one for one in first.coverage if not one.covered]
    [searched] = seen.of(Searched, round=2, query=gap.recommendations[0].query)
    [scored] = seen.of(Scored, round=2, step="assess")
    return {
        **_pick(searched, "topic", "query"),
        "found": [hit.url for hit in searched.found],
        **_pick(scored, "before", "score", "why"),
        "evidence": {"round 1": first.evidence, "round 2": second.evidence},
    }


def _sections(seen: Seen) -> Any:
    return [
        {
            "heading": section.heading,
            "sentences": [_pick(each, "text", "evidence_ids") for each in section.sentences],
        }
        for section in _result(seen).document.sections
        if section.kind == "topic"
    ]


def _verdicts(seen: Seen) -> Any:
    result = _result(seen)
    lost = [problem for problem in result.problems if problem.stage == "verifier"]
    return {
        "citations": [_pick(one, "evidence_id", "verdict") for one in result.citations],
        "problems": [_pick(one, "subject", "reason", "effect") for one in lost],
    }


def _outcome(seen: Seen) -> Any:
    result = _result(seen)
    return {
        **_pick(result, "status", "stopped_by", "iterations"),
        "usage": _pick(result.usage, "searches", "pages"),
        "sources": [_pick(source, "n", "title", "domain") for source in result.sources],
    }


def _result(seen: Seen) -> Any:
    [finished] = seen.of(Finished)
    return finished.result


#: The value at each stop of the page, by its name there.
STOPS: dict[str, Callable[[Seen], Any]] = {
    "start": lambda seen: _pick(seen.of(Started)[0], "question", "mode", "searching"),
    "limits": lambda seen: vars(seen.budget.limits),
    "look": _look,
    "plan": _plan,
    "tasks": _tasks,
    "search": _search,
    "selection": _selection,
    "page": _page,
    "passages": _passages,
    "coverage": _coverage,
    "quote": _quote,
    "round": _round,
    "sections": _sections,
    "verdicts": _verdicts,
    "result": _outcome,
}


def _pick(value: BaseModel, *names: str) -> dict[str, Any]:
    whole = value.model_dump(mode="json")
    return {name: whole[name] for name in names}


def _short(value: Any) -> Any:
    """Return a value with long texts and lists cut, which they say."""
    if isinstance(value, str):
        return _cut(re.sub(r"(http://)?127\.0\.1\.(\d)(?::\d+)?", _site, value))
    if isinstance(value, dict):
        return {name: _short(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        left = len(value) - ITEMS
        return [_short(part) for part in value[:ITEMS]] + ([f"… {left} more"] if left > 0 else [])
    return value


def _site(found: re.Match[str]) -> str:
    return f"{found[1] or ''}{SITES.get(int(found[2]), found[2])}"


def _cut(text: str) -> str:
    if re.fullmatch(r"[0-9a-f]{64}", text):
        return f"{text[:12]}…"
    return text if len(text) <= CHARS else f"{text[: CHARS - 1].rstrip()}…"


def _json(value: Any, indent: int = 0) -> str:
    """Return a value as JSON: on one line where it fits, else each part on lines of its own."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + len(line) <= COLUMNS or not isinstance(value, dict | list):
        return line
    inner, margin = indent + 2, " " * (indent + 2)
    if isinstance(value, dict):
        ends = "{}"
        parts = [f"{json.dumps(name)}: {_json(part, inner)}" for name, part in value.items()]
    else:
        ends, parts = "[]", [_json(part, inner) for part in value]
    lines = ",\n".join(margin + part for part in parts)
    return f"{ends[0]}\n{lines}\n{' ' * indent}{ends[1]}"
