"""What the evidence of a run disagrees on, each side weighed by trust and recency of its pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.tools.ranking.conflicts import Heard, conflicts
from spadework.tools.ranking.trust import trust
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import OTHER_WORDS, stems
from spadework.tools.text.prompt_injection import injection_spans, without_injections
from spadework.values import Conflict, Evidence, Page, Plan

#: What is left of the weight of a page that tries to give orders to its readers.
SUSPECT = 0.25


def find_disputes(
    plan: Plan, evidence: Sequence[Evidence], pages: Mapping[str, Page], texts: Mapping[str, str]
) -> list[Conflict]:
    """The disagreements of the ledger. `pages` are by URL, `texts` by content hash."""
    asked = _stems_asked(plan)
    if not conflicts(evidence, asked):
        return []
    heard = {}
    for url, page in pages.items():
        text, parts = texts.get(page.content_hash, ""), trust(page, evidence, ())
        weight = parts["trust"] * parts["recency"] * (SUSPECT if injection_spans(text) else 1.0)
        heard[url] = Heard(page.origin or page.url, weight, without_injections(text))
    return conflicts(evidence, asked, heard)


def _stems_asked(plan: Plan) -> set[str]:
    """The stems of what a question for one fact asks about its subjects; none for any other."""
    if plan.question_type != "fact":
        return set()
    code = spoken(plan.question)
    asked = stems(plan.question, code) - stems(" ".join(plan.subjects), code)
    return asked | {other for word in asked for other in OTHER_WORDS.get(word, ())}
