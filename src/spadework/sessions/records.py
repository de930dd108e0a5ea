"""The files of a session, written as the run goes, each in one step. The ledger is one line an
entry; the pages lie in `pages/`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from pydantic import BaseModel

from spadework.agents.editor import review
from spadework.budget import Limits
from spadework.errors import SessionError
from spadework.events import Assessed, Event, Planned, Read, Searched, Troubled
from spadework.graph.opened import SECRETS
from spadework.sessions.brief import Brief
from spadework.sessions.files import (
    VERSION,
    Metadata,
    Progress,
    RoundProgress,
    read_metadata,
    read_progress,
    session_folder,
    taken_over,
)
from spadework.sessions.kept import LEDGER, METADATA, PROGRESS, RESULT
from spadework.sessions.late import Late
from spadework.sessions.lock import held
from spadework.sessions.log import LOG, log_event
from spadework.settings import Settings
from spadework.tools.disk import on_disk
from spadework.tools.export.markdown import escaped
from spadework.tools.pages import write_atomically
from spadework.tools.plans import PlanStore
from spadework.values import STATE_WORDS, Evidence, Result

WORK = ("search_workproduct", "intelligent_research_workproduct")


class Records:
    """Writes the files of one session."""

    def __init__(self, folder: Path, metadata: Metadata, *, fresh: bool) -> None:
        self.folder = folder
        self._metadata = metadata
        self._fresh = fresh
        self._stamp = f"{metadata.created_at:%Y%m%d_%H%M%S}"
        self._searches: list[str] = []
        self._reads: list[str] = []
        self._progress = Progress()
        self._late = Late(folder.name)

    @property
    def late(self) -> list[str]:
        """What could not be written in time since this was asked last, in a sentence each."""
        return self._late.told()

    def hangs(self, name: str) -> None:
        """A file of the session does not answer: nothing more is written, and that is said."""
        self._late.hangs(name)

    def hurry(self, left: Callable[[], float]) -> None:
        """Wait for no file longer than the run has time `left`, in seconds."""
        self._late.left = left

    @classmethod
    async def begin(cls, folder: Path, brief: Brief, settings: Settings, limits: Limits) -> Self:
        """The records of a session; what is known at its start is written down before anything
        else, so that it can be taken up. Raises SessionUnreadable.
        """
        if (folder / METADATA).exists():
            metadata = taken_over(await on_disk(read_metadata, folder))
            taken_up = cls(folder, metadata, fresh=False)
            taken_up._progress = await on_disk(read_progress, folder)
            return taken_up
        # Only what was asked for; what comes from the environment is that of the process that
        # resumes.
        kept = {
            name: value
            for name, value in settings.model_dump(mode="json").items()
            if name in settings.given - SECRETS
        }
        metadata = Metadata(
            id=folder.name,
            version=VERSION,
            created_at=datetime.now(UTC),
            query=brief.question,
            attachments=brief.attachments,
            follows=brief.follows,
            wishes=brief.wishes,
            most_words=brief.most_words,
            settings=kept,
            limits=limits,
        )
        records = cls(folder, metadata, fresh=True)
        records.hurry(lambda: 60 * limits.minutes)
        try:
            await on_disk(write_atomically, folder / METADATA, _told(metadata))
        except OSError:
            await records.discard()
            raise
        await records._json(PROGRESS, records._progress)
        return records

    @property
    def created_at(self) -> datetime:
        """When the session began, also one that is taken up."""
        return self._metadata.created_at

    async def discard(self) -> None:
        """Remove a session that could not begin; one that was taken up stays."""
        if self._fresh:
            await on_disk(shutil.rmtree, self.folder, ignore_errors=True)

    async def saw(self, event: Event) -> None:
        """Take down an event: as a line of the log, and where it stands in the session's own
        files.
        """
        await self._late.within(LOG, self._log, event)
        if isinstance(event, Searched):
            self._searches.append(
                f"- {escaped(event.topic)}: “{escaped(event.query)}” at {escaped(event.provider)}:"
                f" {event.hits} hits"
            )
        elif isinstance(event, Read):
            outcome = f"{event.chars} characters" if event.chars else f"not read: {event.reason}"
            name = event.title or event.url
            self._reads.append(
                f"- {escaped(event.topic)}: {escaped(name)} ({escaped(event.url)}):"
                f" {escaped(outcome)}"
            )
        elif isinstance(event, Planned):
            topics = tuple(topic.name for topic in event.plan.topics)
            await self._progressed(state="searching", topics=topics)
        elif isinstance(event, Assessed):
            await self._assessed(event)
        elif isinstance(event, Troubled):
            await self._progressed(problems=(*self._progress.problems, event.problem))

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
        written = {"report": report, "result": RESULT, "pages": "pages/"} | self._written()
        self._metadata = self._metadata.model_copy(
            update={
                "status": result.status,
                "method": result.mode,
                "performance_metrics": {**result.timings, **result.usage.model_dump()},
                "results_summary": _summary(result),
                "file_paths": written,
            }
        )
        await self._json(METADATA, self._metadata)
        await self._progressed(state=result.status)
        return self.folder / report

    def _written(self) -> dict[str, str]:
        """The files of this session that exist by now, by what they are."""
        names = {"evidence": LEDGER} | {
            kind: f"{kind}_{self._stamp}.md" for kind in (*WORK, "editorial_review")
        }
        return {kind: name for kind, name in names.items() if (self.folder / name).exists()}

    async def _assessed(self, event: Assessed) -> None:
        done = RoundProgress(round=event.round, evidence=event.evidence, coverage=event.coverage)
        await self._progressed(rounds=(*self._progress.rounds, done))
        await self._text(
            f"search_workproduct_{self._stamp}.md",
            "# Searches\n\n" + "\n".join([*self._searches, "", "# Pages", "", *self._reads]) + "\n",
        )
        lines = [
            f"- {escaped(c.topic)}: {STATE_WORDS[c.state]}, score {c.score},"
            f" {len(c.evidence_ids)} quotes"
            for c in event.coverage
        ]
        await self._text(
            f"intelligent_research_workproduct_{self._stamp}.md",
            f"# Coverage after round {event.round}\n\n" + "\n".join(lines) + "\n",
        )

    async def _progressed(self, **changes: object) -> None:
        self._progress = self._progress.model_copy(update=changes)
        await self._json(PROGRESS, self._progress)

    async def _json(self, name: str, value: BaseModel) -> None:
        await self._late.within(name, self._write, name, _told(value))

    async def _text(self, name: str, text: str) -> None:
        await self._late.within(name, self._write, name, text.encode())

    def _write(self, name: str, data: bytes) -> None:
        self._there()
        write_atomically(self.folder / name, data)

    def _log(self, event: Event) -> None:
        self._there()
        log_event(self.folder, event)

    def _there(self) -> None:
        """Raises FileNotFoundError where the folder was removed while the session runs: what is
        written then would be half a session.
        """
        (self.folder / METADATA).stat()


def _told(value: BaseModel) -> bytes:
    return value.model_dump_json(indent=1).encode()


def _summary(result: Result) -> dict[str, float | None]:
    return {
        "covered": sum(topic.covered for topic in result.topics),
        "topics": len(result.topics),
        "evidence": sum(len(topic.evidence) for topic in result.topics),
        "sources": len(result.sources),
        "confidence": result.confidence,
    }


def delete_session(home: Path, session_id: str) -> None:
    """Delete a session with all its files, and the plan that is kept of its question.

    Raises SessionNotFound, and SessionBusy while somebody works on it.
    """
    folder = session_folder(home, session_id)
    with held(folder):
        # One that broke off before its question was written down, or is broken, goes as well.
        with suppress(SessionError):
            PlanStore(home / "plans", 0).forget(read_metadata(folder).query)
        shutil.rmtree(folder)
