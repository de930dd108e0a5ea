"""What a query wishes of its results beyond its words: recency, domains, and how many."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.settings import Settings
from spadework.tools.search.search_filters import add_filters
from spadework.values import Freshness, Plan, Query, Recommendation, Task


def date_queries(queries: Sequence[Query], freshness: Freshness) -> tuple[Query, ...]:
    """The queries for pages as recent as the plan wants. Of what is asked about now, the first asks
    for news, the others, at least that one again, for all pages of the past year.
    """
    if freshness == "any" or not queries:
        return tuple(queries)
    recent = tuple(query.model_copy(update={"freshness": "recent"}) for query in queries)
    if freshness == "recent":
        return recent
    return (queries[0].model_copy(update={"freshness": "now"}), *(recent[1:] or recent))


def with_filters(task: Task, settings: Settings, question: str) -> Task:
    """The task with what the settings wish of every search, and the language of the question."""
    queries, again = (
        tuple(add_filters(query, settings, question) for query in of)
        for of in (task.queries, task.again)
    )
    return task.model_copy(update={"queries": queries, "again": again})


def gap_query(wanted: Recommendation, plan: Plan, seconds: float) -> Query:
    """Return the query of a recommended search, which may take so many seconds; for a question
    about now, over the past year.
    """
    return Query(
        text=wanted.query,
        kind="gap",
        freshness="any" if plan.freshness == "any" else "recent",
        include_domains=wanted.include_domains,
        exclude_domains=wanted.exclude_domains,
        results=wanted.max_results,
        seconds=seconds,
    )
