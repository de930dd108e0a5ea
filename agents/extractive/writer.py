"""The writer without a model: sections of quoted sentences and code blocks, each with its evidence, nothing added."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.extractive.facets import facet_of
from spadework.agents.verifier import quoted
from spadework.values import Evidence, Plan, Section, Sentence

#: Sentences of a summary at most, and the longest, in characters.
SUMMARY_SENTENCES = 4
SUMMARY_CHARS = 320
#: The topics whose answer comes first, by facet.
_LEADING = ("definition", "subject", "fact", "overview", "steps", "causes", "timeline", "items", "strengths", "differences")


def section(heading: str, evidence: Sequence[Evidence]) -> Section:
    """The quotes of a topic in the order of the ledger, which is that of their pages."""
    return Section(heading=heading, sentences=tuple(quoted(e) for e in evidence))


def summary(plan: Plan, ledger: Sequence[Evidence]) -> Section:
    """The first sentence of each topic that answers the question in words, the definition first."""
    topics = sorted(plan.topics, key=lambda topic: _LEADING.index(key) if (key := facet_of(topic).key) in _LEADING else len(_LEADING))
    sentences: list[Sentence] = []
    for topic in topics:
        own = [
            e for e in ledger if e.topic == topic.name and e.kind == "text" and len(e.quote) <= SUMMARY_CHARS and not e.quote.endswith(":")
        ]
        sentences += [quoted(e) for e in own[:1]]
    return Section(heading="Summary", kind="summary", sentences=tuple(sentences[:SUMMARY_SENTENCES]))
