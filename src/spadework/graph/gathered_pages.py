"""What was gathered for a query, or read at an address, and the result of a session of that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from spadework.agents.editor import of_lines, problem_lines
from spadework.errors import SettingsError
from spadework.graph.ending import status_of
from spadework.graph.session_context import SessionContext
from spadework.graph.sources import sources_of
from spadework.graph.state import ResearchState, WorkerState
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.text.markdown_marks import one_line
from spadework.values import (
    Page,
    Part,
    Problem,
    Query,
    Report,
    Result,
    Section,
    Sentence,
    Source,
    Task,
    Topic,
    Unread,
    Value,
)
from spadework.visible import visible

#: What such a session says of itself.
NOTHING_WRITTEN = (
    "Pages were read for this, and nothing was judged or written about them; no model was asked."
    " Their whole texts are in the session."
)
#: What has ended it when whoever asked went away.
CANCELLED = "cancelled"
_NONE = "No page could be read."


class Gathered(Value):
    """What came of it: the pages, best first, what could not be read, how many hits
    there were, and what went wrong. `answered`: a search was answered, where one was asked.
    """

    pages: tuple[Page, ...] = ()
    unread: tuple[Unread, ...] = ()
    found: int = 0
    answered: bool = True
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, state: WorkerState) -> Gathered:
        """What the steps have left in their state, however far they came."""
        pages: Sequence[Page] = state.get("pages", state.get("drafts", []))
        return cls(
            pages=tuple(pages[: state["task"].pages]),  # beside a slow one another was read
            unread=tuple(state.get("unread", ())),
            found=len(state.get("hits", [])),
            answered=state.get("answered", True),
            problems=tuple(state.get("problems", [])),
        )


def asked_of(query: str) -> Query:
    """The query as it is searched. Raises SettingsError for an empty one."""
    text = " ".join(visible(query).split())
    if not text:
        raise SettingsError("The query is empty: say what to search for.")
    return Query(text=text)


def task_of(query: Query, pages: int = 0) -> Task:
    """The task of finding pages for one query alone; at most so many are read."""
    topic = Topic(name=one_line(query.text), question=query.text, queries=(query,))
    return Task(topic=topic, queries=(query,), pages=pages)


def begin_state(context: SessionContext, query: str, pages: int) -> WorkerState:
    """What the steps begin with for a query alone."""
    task = task_of(asked_of(query), pages)
    begun = {
        "session_id": context.session_id,
        "question": task.topic.question,
        "task": task,
        "read_before": [],
        "attached": [],
    }
    return cast("WorkerState", begun)  # the steps add what they find


def result_of_pages(
    context: SessionContext, asked: str, gathered: Gathered, *, why: str = "", failed: bool = False
) -> Result:
    """The result of a session that gathered pages; `why` is what ended it before its time."""
    pages = {page.url: page for page in gathered.pages}
    read = cast("ResearchState", {"pages": pages})
    found = {source.url: source for source in sources_of(read, [], [])}
    # In the order in which they were read: nothing rests on them that could be first.
    sources = [
        found[url].model_copy(update={"n": n, "unused": ""}) for n, url in enumerate(pages, 1)
    ]
    why = why or ("nothing read" if gathered.unread and not pages else "")
    named = gathered.pages[0].title if asked in pages else ""
    document = Report(title=named or asked, sections=_sections(context, gathered, sources, why))
    return Result(
        session_id=context.session_id,
        question=asked,
        status="failed" if failed else "partial" if why == CANCELLED else status_of(why),
        stopped_by=why,
        mode="extractive",
        sources=tuple(sources),
        report=to_markdown(document, {}, sources),
        document=document,
        unread=gathered.unread,
        problems=gathered.problems,
        searched=context.searching,
        usage=context.budget.used.model_copy(update={"pages": len(pages)}),
        timings={"total": round(context.budget.elapsed(), 2)},
        session_dir=str(context.folder),
    )


def _sections(
    context: SessionContext, gathered: Gathered, sources: Sequence[Source], why: str
) -> tuple[Section, ...]:
    searched = f"Searched: {'; '.join(context.searching)}." if context.searching else ""
    gone = "Whoever asked went away before it was done." if why == CANCELLED else ""
    about = (NOTHING_WRITTEN if sources else _NONE, gone, searched, *context.notices)
    by_url = {page.url: page for page in gathered.pages}
    listed = []
    for source in sources:
        page = by_url[source.url]
        how = f"{page.chars:,} characters" + (f", level {page.level}" if page.level > 0 else "")
        listed.append(Sentence(text=f"{source.title or source.domain}: {source.url} ({how})"))
    parts = (Part(form="steps", takes=(1,) * len(listed)),)
    made = (
        of_lines("About this report", about),
        problem_lines(gathered.problems),
        Section(heading="Sources", kind="limits", sentences=tuple(listed), parts=parts),
    )
    return tuple(section for section in made if section.sentences)
