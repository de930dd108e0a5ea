"""Reject off-topic hits and, in deep-effort runs, judge whether to read more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.agents.evidence.passages import PassageView
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.prompts import render
from spadework.tools.ranking.query_operators import in_words
from spadework.tools.text import tokens
from spadework.tools.web.urls import domain_of
from spadework.values import Hit, Problem, Query, Topic, Visible

#: Maximum hits to show the model per call, and maximum tokens to show of each hit.
MOST_HITS, HIT_TOKENS = 40, 40


class HitAnswer(Visible):
    """A hit not worth reading, and the reason."""

    n: int
    reason: str


class HitsAnswer(Visible):
    """The hits not worth reading."""

    against: list[HitAnswer] = at_most(MOST_HITS)


class ReflectionAnswer(Visible):
    """Whether enough has been read, and a query for what is missing."""

    enough: bool
    missing: str
    query: str


async def check_hits(
    model: Model, question: str, topic: Topic, hits: Sequence[Hit], *, seconds: float
) -> tuple[Mapping[str, str], list[Problem]]:
    """Return reasons not to read hits, keyed by URL ({} if the model fails), and the problems."""
    first = hits[:MOST_HITS]
    await tokens.ready()
    listed = [
        {
            "domain": domain_of(hit.url),
            "text": tokens.first_tokens(f"{hit.title} — {hit.snippet}", HIT_TOKENS),
        }
        for hit in first
    ]

    async def ask(model: Model) -> dict[str, str]:
        answer = await model.ask(
            "judge",
            render("hits", question=question, topic=topic, hits=listed),
            HitsAnswer,
            seconds=seconds,
        )
        return {first[a.n - 1].url: a.reason for a in answer.against if 1 <= a.n <= len(first)}

    return await first_of(model, "judge", topic.name, ask, dict)


async def reflect(
    model: Model, question: str, topic: Topic, shown: Sequence[PassageView], *, seconds: float
) -> tuple[Query | None, list[Problem]]:
    """Ask the model for a query about what the passages in `shown` do not answer. Return the query
    and the problems. The query is None if there is nothing new to ask or the model fails.
    """

    async def ask(model: Model) -> Query | None:
        passages = [
            {"title": s.page.title, "domain": domain_of(s.page.url), "text": s.text} for s in shown
        ]
        prompt = render("reflect", question=question, topic=topic, passages=passages)
        answer = await model.ask("judge", prompt, ReflectionAnswer, seconds=seconds)
        text = " ".join(answer.query.split())
        asked = {query.text.lower() for query in topic.queries}
        return (
            None
            if answer.enough or not in_words(text) or text.lower() in asked
            else Query(text=text, kind="specific")
        )

    return await first_of(model, "judge", topic.name, ask, lambda: None)
