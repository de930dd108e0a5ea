"""A query that somebody has typed, as the task of a worker."""

from __future__ import annotations

from spadework.errors import SettingsError
from spadework.tools.text.markdown_marks import one_line
from spadework.values import Query, Task, Topic
from spadework.visible import visible


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
