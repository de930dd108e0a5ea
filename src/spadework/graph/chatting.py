"""A run as a conversation is told of it while it goes on: the plan, what was read and proven, and
the report as far as it stands, each as a message of its own.

Clients add up what comes under one id, so every message only grows, in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from langchain_core.messages import AIMessageChunk

from spadework.events import Assessed, Event, Notice, Planned, Read, Searched, Wrote
from spadework.tools.export.markdown_report import escape_markdown, safe_url
from spadework.tools.text.markdown_marks import one_line
from spadework.values import STATE_WORDS

#: What a message tells of a run; `additional_kwargs["telling"]` says it to programs.
Telling = Literal["plan", "progress", "draft"]
#: Characters of a title, a query or a notice at most.
_TITLE_CHARS = 200


class Teller:
    """Words the events of one run. The messages are not kept in the thread: the report is."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._round = 1
        self._begun: set[str] = set()

    def told(self, event: Event) -> Iterator[AIMessageChunk]:
        """The next pieces of messages that tell of an event; none where it is worth none."""
        if isinstance(event, Planned):
            topics = (_quote_words(topic.name) for topic in event.plan.topics)
            listed = (f"{n}. {name}" for n, name in enumerate(topics, 1))
            yield self._piece("plan", "\n".join(["**Plan**", "", *listed, ""]))
        elif isinstance(event, Wrote) and not event.final:
            yield self._piece("draft", f"*As far as it stands:*\n\n{event.markdown.strip()}\n")
        elif line := _line(event):
            yield self._piece("progress", line)
        if isinstance(event, Assessed):
            self._round = max(self._round, event.round) + 1

    def _piece(self, telling: Telling, text: str) -> AIMessageChunk:
        """A piece of the message that tells this in this round."""
        # The draft of a round comes after the round was judged.
        number = self._round - 1 if telling == "draft" else self._round
        id_ = f"{telling}-{number}-{self._session_id}"
        if id_ in self._begun:
            return AIMessageChunk(content=f"\n{text}", id=id_)
        # Who prints all that comes sees where a message begins.
        apart, told = "\n\n" if self._begun else "", {"telling": telling}
        self._begun.add(id_)
        return AIMessageChunk(content=apart + text, id=id_, additional_kwargs=told)


def _line(event: Event) -> str:
    """A line of a list, so that what follows is one more."""
    if isinstance(event, Notice):
        return f"- {_quote_words(event.text)}"
    if isinstance(event, Searched) and event.topic:  # not the first look, before there is a plan
        return (
            f"- Searched {_quote_words(event.provider)} for “{_quote_words(event.query)}”:"
            f" {event.hits} found"
        )
    if isinstance(event, Read) and not event.reason:
        name, url = _quote_words(event.title or event.url), safe_url(event.url)
        return f"- Read [{name}]({url})" if url else f"- Read {name}"
    if isinstance(event, Assessed):
        states = (f"{_quote_words(c.topic)}: {STATE_WORDS[c.state]}" for c in event.coverage)
        judged = "Known already" if event.round == 0 else f"Round {event.round}"
        quotes = "1 quote" if event.evidence == 1 else f"{event.evidence} quotes"
        return f"- **{judged}**: {quotes}. {'; '.join(states)}"
    return ""


def _quote_words(text: str) -> str:
    return escape_markdown(one_line(text, _TITLE_CHARS))
