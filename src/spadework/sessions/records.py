"""The files of a session, written as the run goes, each in one step. The ledger is one line an
entry; the pages lie in `pages/`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import SecretStr

from spadework.agents.editor import review
from spadework.budget import Limits
from spadework.errors import SessionNotFound
from spadework.events import Assessed, Event, Planned, Read, Searched, Troubled
from spadework.graph.desk import is_session_id
from spadework.sessions.brief import Brief
from spadework.sessions.lock import held
from spadework.sessions.log import log_event
from spadework.settings import Settings
from spadework.tools.pages import write_atomically
from spadework.tools.plans import PlanStore
from spadework.values import Evidence, Result

METADATA = "session_metadata.json"
PROGRESS = "progress_tracking.json"
LEDGER = "evidence.jsonl"
RESULT = "result.json"
WORK = ("search_workproduct", "intelligent_research_workproduct")

#: Questions before this one that are told to the lead, at most.
MOST_EARLIER = 5

#: Settings that are never written down: every key.
SECRETS = {
    name
    for name, field in Settings.model_fields.items()
    if SecretStr in (field.annotation, *get_args(field.annotation))
}


class Records:
    """Writes the files of one session."""

    def __init__(self, folder: Path, created_at: datetime, *, fresh: bool) -> None:
        self.folder = folder
        self._fresh = fresh
        self._stamp = f"{created_at:%Y%m%d_%H%M%S}"
        self._searches: list[str] = []
        self._reads: list[str] = []
        self._progress: dict[str, Any] = {"state": "started", "rounds": []}

    @classmethod
    async def begin(cls, folder: Path, brief: Brief, settings: Settings, limits: Limits) -> Self:
        """The records of a session; what is known at its start is written down before anything
        else, so that it can be taken up.
        """
        if (folder / METADATA).exists():
            metadata = await asyncio.to_thread(read_metadata, folder)
            taken_up = cls(folder, datetime.fromisoformat(metadata["created_at"]), fresh=False)
            if (folder / PROGRESS).exists():
                taken_up._progress = json.loads(
                    await asyncio.to_thread((folder / PROGRESS).read_text, encoding="utf-8")
                )
            return taken_up
        records = cls(folder, datetime.now(UTC), fresh=True)
        # Only what was asked for; what comes from the environment is that of the process that
        # resumes.
        kept = {
            name: value
            for name, value in settings.model_dump(mode="json").items()
            if name in settings.given - SECRETS
        }
        data = {
            "id": folder.name,
            "created_at": datetime.now(UTC).isoformat(),
            "query": brief.question,
            "method": "",
            "attachments": list(brief.attachments),
            "follows": brief.follows,
            "settings": kept,
            "limits": vars(limits),
            "performance_metrics": {},
            "results_summary": {},
            "file_paths": {},
        }
        await records._json(METADATA, data)
        await records._json(PROGRESS, records._progress)
        return records

    async def discard(self) -> None:
        """Remove a session that could not begin; one that was taken up stays."""
        if self._fresh:
            await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)

    async def saw(self, event: Event) -> None:
        """Take down an event: as a line of the log, and where it stands in the session's own
        files.
        """
        await asyncio.to_thread(log_event, self.folder, event)
        if isinstance(event, Searched):
            self._searches.append(
                f"- {event.topic}: “{event.query}” at {event.provider}: {event.hits} hits"
            )
        elif isinstance(event, Read):
            outcome = f"{event.chars} characters" if event.chars else f"not read: {event.reason}"
            self._reads.append(
                f"- {event.topic}: {event.title or event.url} ({event.url}): {outcome}"
            )
        elif isinstance(event, Planned):
            self._progress |= {
                "state": "searching",
                "topics": [topic.name for topic in event.plan.topics],
            }
            await self._json(PROGRESS, self._progress)
        elif isinstance(event, Assessed):
            await self._assessed(event)
        elif isinstance(event, Troubled):
            self._progress.setdefault("problems", []).append(event.problem.model_dump())
            await self._json(PROGRESS, self._progress)

    async def ledger(self, evidence: Sequence[Evidence]) -> None:
        """The whole ledger, one JSON object a line."""
        await self._text(LEDGER, "".join(e.model_dump_json() + "\n" for e in evidence))

    async def finish(self, result: Result) -> Path:
        """The report, the review, the result and the closing metadata. Returns the path of the
        report.
        """
        report = f"research_report_{self._stamp}.md"
        await self._text(report, result.report)
        await self._text(f"editorial_review_{self._stamp}.md", review(result))
        await self._text(RESULT, result.model_dump_json(indent=1))
        metadata = await asyncio.to_thread(read_metadata, self.folder)
        metadata |= {
            "status": result.status,
            "method": result.mode,
            "performance_metrics": {**result.timings, **result.usage.model_dump()},
            "results_summary": {
                "covered": sum(topic.covered for topic in result.topics),
                "topics": len(result.topics),
                "evidence": sum(len(topic.evidence) for topic in result.topics),
                "sources": len(result.sources),
                "confidence": result.confidence,
            },
            "file_paths": {"report": report, "result": RESULT, "pages": "pages/"} | self._written(),
        }
        await self._json(METADATA, metadata)
        await self._json(PROGRESS, self._progress | {"state": result.status})
        return self.folder / report

    def _written(self) -> dict[str, str]:
        """The files of this session that exist by now, by what they are."""
        names = {"evidence": LEDGER} | {
            kind: f"{kind}_{self._stamp}.md" for kind in (*WORK, "editorial_review")
        }
        return {kind: name for kind, name in names.items() if (self.folder / name).exists()}

    async def _assessed(self, event: Assessed) -> None:
        self._progress["rounds"].append(
            {
                "round": event.round,
                "evidence": event.evidence,
                "coverage": [c.model_dump() for c in event.coverage],
            }
        )
        await self._json(PROGRESS, self._progress)
        await self._text(
            f"search_workproduct_{self._stamp}.md",
            "# Searches\n\n" + "\n".join([*self._searches, "", "# Pages", "", *self._reads]) + "\n",
        )
        lines = [
            f"- {c.topic}: {'covered' if c.covered else 'open'}, score {c.score},"
            f" {len(c.evidence_ids)} quotes"
            for c in event.coverage
        ]
        await self._text(
            f"intelligent_research_workproduct_{self._stamp}.md",
            f"# Coverage after round {event.round}\n\n" + "\n".join(lines) + "\n",
        )

    async def _json(self, name: str, data: Any) -> None:
        await self._text(name, json.dumps(data, indent=1, ensure_ascii=False, default=str))

    async def _text(self, name: str, text: str) -> None:
        await asyncio.to_thread(write_atomically, self.folder / name, text.encode())


def session_folder(home: Path, session_id: str) -> Path:
    """The folder of a session. Raises SessionNotFound where there is none, or the id could name a
    folder outside the sessions.
    """
    folder = home / "sessions" / session_id
    if not is_session_id(session_id) or not folder.is_dir():
        raise SessionNotFound(
            f"There is no session {session_id[:80]!r}.", hint="`spadework sessions` lists them."
        )
    return folder


def delete_session(home: Path, session_id: str) -> None:
    """Delete a session with all its files, and the plan that is kept of its question.

    Raises SessionNotFound, and SessionBusy while somebody works on it.
    """
    folder = session_folder(home, session_id)
    with held(folder):
        with suppress(
            SessionNotFound
        ):  # a session that broke off before its question was written down
            PlanStore(home / "plans", 0).forget(read_metadata(folder).get("query", ""))
        shutil.rmtree(folder)


def read_metadata(folder: Path) -> dict[str, Any]:
    """The metadata of a session folder. Raises SessionNotFound when there is none that can be
    read.
    """
    try:
        data: dict[str, Any] = json.loads((folder / METADATA).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise SessionNotFound(
            f"There is no session {folder.name}.", hint="`spadework sessions` lists them."
        ) from None
    return data


def questions_before(home: Path, follows: str) -> tuple[str, ...]:
    """The questions of the session `follows` and those it follows up itself, oldest first. Raises
    SessionNotFound for an unknown one.
    """
    found: list[str] = []
    while follows and len(found) < MOST_EARLIER:
        metadata = read_metadata(session_folder(home, follows))
        found.insert(0, metadata["query"])
        follows = metadata.get("follows", "")
    return tuple(found)


def read_result(folder: Path) -> Result | None:
    """The result of a finished session, None of one that is not finished."""
    try:
        return Result.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None


def list_sessions(home: Path) -> list[dict[str, Any]]:
    """The metadata of all sessions, newest first."""
    folders = sorted((home / "sessions").glob("*/" + METADATA), reverse=True)
    found = []
    for path in folders:
        with suppress(SessionNotFound):
            found.append(read_metadata(path.parent))
    return found
