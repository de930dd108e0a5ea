"""The writer without a model: sections of quoted sentences and code blocks, each with its evidence,
nothing added.
"""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.extractive.facets import facet_of
from spadework.agents.verifier import columns_of, quoted
from spadework.values import Evidence, Plan, Section

#: Sentences of a summary at most, and the longest, in characters.
SUMMARY_SENTENCES = 4
SUMMARY_CHARS = 320
#: The facets whose first sentence sums an answer up, the most telling first; how to install
#: something does not.
_TELLING = (
    *(
        "definition",
        "subject",
        "fact",
        "overview",
        "steps",
        "causes",
        "timeline",
        "items",
        "strengths",
    ),
    *("differences", "usecases", "features", "mechanism", "current", "positions", "alternatives"),
)


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """The quotes of a topic in the order of the ledger, which is that of their pages."""
    told = tuple(
        quoted(e, columns=columns_of(e, evidence)) for e in evidence if e.kind != "columns"
    )
    return Section(heading=heading, sentences=told)


def summary(plan: Plan, ledger: Sequence[Evidence]) -> Section:
    """The first sentence of each topic that answers the question in words, the definition first."""
    facets = {topic.name: facet_of(topic).key for topic in plan.topics}
    telling = [topic for topic in plan.topics if facets[topic.name] in _TELLING]
    topics = sorted(telling, key=lambda topic: _TELLING.index(facets[topic.name]))
    first = [
        next((e for e in ledger if e.topic == topic.name and _sums_up(e)), None) for topic in topics
    ]
    said = {e.quote: e for e in reversed(first) if e}  # what two topics begin with is said once
    sentences = tuple(quoted(e, columns=columns_of(e, ledger)) for e in reversed(said.values()))
    return Section(heading="Summary", kind="summary", sentences=sentences[:SUMMARY_SENTENCES])


def _sums_up(evidence: Evidence) -> bool:
    """Whether a quote is a whole sentence, short enough for a summary; one that introduces code or
    a list is not.
    """
    if evidence.kind != "text":
        return evidence.kind in ("row", "cells")
    return len(evidence.quote) <= SUMMARY_CHARS and evidence.quote.rstrip('*`)”"').endswith(
        (".", "!")
    )
