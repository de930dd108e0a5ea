"""The assessor without a model: scores what could be quoted for a topic; it is covered when the
best of that is good enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spadework.agents.extractive.asked import left_open
from spadework.agents.extractive.bridges import Bridge, asks_for_a_relation, bridges, reached
from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.material import brings_material
from spadework.agents.extractive.needs import need_of
from spadework.agents.extractive.scale import Scale
from spadework.agents.shown import Judgement, Shown, Spot
from spadework.tools.disagreement import disagreement
from spadework.tools.facts import stems
from spadework.tools.inline import plain
from spadework.values import Evidence, Plan, Recommendation, Topic

#: A candidate below this share of the highest possible score is not quoted.
LEAST_SCORE = 0.48
#: Nor one below this share of the best candidate's score.
LEAST_SHARE = 0.75
#: From this share on, the best candidates answer the topic.
GOOD_SCORE = 0.6
#: Quotes of one topic at most, of one page at most, and code blocks among them.
MOST_QUOTES, MOST_PER_PAGE, MOST_CODE = 7, 4, 2
#: How the addresses of files begin that came with the question: it may speak of what stands in
#: them.
ATTACHED = "library://attached/"
#: New pages that a recommended search may bring.
MOST_RESULTS = 10
#: Two quotes that share more than this of the shorter one's words say the same.
SAME = 0.6


@dataclass(frozen=True)
class Scored:
    """A candidate with its score, 0..1."""

    candidate: Candidate
    score: float


def assess(
    plan: Plan, topic: Topic, shown: Sequence[Shown], known: Sequence[Evidence]
) -> Judgement:
    """The judgement of a topic: the best quotes that do not repeat each other or what is known, and
    whether they answer it.
    """
    found = candidates(shown, rows=need_of(topic) != "text")
    leads = asks_for_a_relation(plan.question)
    scale = Scale(plan, topic, found, also=reached(shown, known) if leads else ())
    wants_code = scale.facet.code
    scored = [
        Scored(c, scale.score(c, words))
        for c, words in zip(found, scale.words, strict=True)
        if scale.takes(c)
    ]
    chosen = _chosen(scored, [plain(e.quote) for e in known])
    has_code = any(s.candidate.kind == "code" for s in chosen) or any(
        e.kind == "code" for e in known
    )
    strength = _strength([s.score for s in chosen], len(known))
    missing = [
        word
        for word in topic.must_cover
        if not any(stems(word) <= stems(s.candidate.text) for s in chosen)
    ]
    gaps = [
        *_gaps(topic, chosen, wants_code and not has_code, strength, bool(known)),
        *_unsaid(plan, topic, shown),
    ]
    ahead = bridges(plan.question, shown) if leads and not known else []
    if ahead:
        gaps.append(f"It leads on to {' and '.join(bridge.name for bridge in ahead)}.")
    covered = not gaps
    score = min(1.0, 0.8 + 0.2 * strength) if covered else min(0.75, strength)
    spots = [
        Spot(
            b.shown.page,
            b.start,
            b.end,
            b.shown.text[b.start - b.shown.start : b.end - b.shown.start],
        )
        for b in ahead
    ]
    spots += [spot for s in _in_page_order(chosen) for spot in _spots(s.candidate)]
    return Judgement(
        covered,
        round(score, 3),
        tuple(spots),
        tuple(gaps),
        () if covered else _next_queries(plan, topic, missing, ahead),
    )


def _share(wanted: set[str], there: set[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _chosen(scored: Sequence[Scored], known: Sequence[str]) -> list[Scored]:
    """The best, greedily, without those that say again what a better one says."""
    kept: list[Scored] = []
    said = [(stems(text), text) for text in known]
    least = max(LEAST_SCORE, LEAST_SHARE * max((s.score for s in scored), default=0.0))
    for one in sorted(scored, key=lambda s: -s.score):
        words = stems(one.candidate.text)
        if one.score < least or len(kept) >= MOST_QUOTES:
            break
        again = [text for other, text in said if _share(words, other) > SAME]
        # What contradicts a better one is no repetition of it.
        if any(not disagreement(one.candidate.text, text) for text in again) or _crowded(one, kept):
            continue
        kept.append(one)
        said.append((words, one.candidate.text))
    return kept


def _crowded(one: Scored, kept: Sequence[Scored]) -> bool:
    page, code = one.candidate.shown.page.url, one.candidate.kind == "code"
    if any(
        k.candidate.shown.page.url == page
        and k.candidate.start < one.candidate.end
        and one.candidate.start < k.candidate.end
        for k in kept
    ):
        return True
    same_page = sum(k.candidate.shown.page.url == page for k in kept)
    return same_page >= MOST_PER_PAGE or (
        code and sum(k.candidate.kind == "code" for k in kept) >= MOST_CODE
    )


def _strength(scores: Sequence[float], known: int) -> float:
    """How good the best is, 0..1: the best score against what is good, with a little for every
    further quote.
    """
    if not scores:
        return 0.5 if known else 0.0
    return min(1.0, max(scores) / GOOD_SCORE * (0.85 + 0.05 * min(3, len(scores) + known)))


def _gaps(
    topic: Topic, chosen: Sequence[Scored], lacks_code: bool, strength: float, known: bool
) -> list[str]:
    if not chosen and not known:
        return ["Nothing that was read answers this."]
    gaps = []
    if lacks_code:
        gaps.append("No example code was found.")
    if strength < 1.0 and not (known and chosen):
        gaps.append(f"The quotes found answer “{topic.question}” only in part.")
    return gaps


def _unsaid(plan: Plan, topic: Topic, shown: Sequence[Shown]) -> list[str]:
    """That the question leaves open what it is about, and so no page can be known to answer it."""
    thing = left_open(topic.question)
    if (
        not thing
        or brings_material(plan.question)
        or any(passage.page.url.startswith(ATTACHED) for passage in shown)
    ):
        return []
    return [
        f"The question speaks of “{thing} …” and does not say which it is: what is quoted may be"
        " about another one."
    ]


def _in_page_order(chosen: Sequence[Scored]) -> list[Scored]:
    """Page by page in the order of their best quote, each page's quotes as they stand in it."""
    pages = list(dict.fromkeys(s.candidate.shown.page.url for s in chosen))
    return sorted(
        chosen, key=lambda s: (pages.index(s.candidate.shown.page.url), s.candidate.start)
    )


def _spots(candidate: Candidate) -> list[Spot]:
    page, passage = candidate.shown.page, candidate.shown
    return [
        Spot(page, start, end, passage.text[start - passage.start : end - passage.start])
        for start, end in candidate.spans
    ]


def _next_queries(
    plan: Plan, topic: Topic, missing: Sequence[str], ahead: Sequence[Bridge]
) -> tuple[Recommendation, ...]:
    """Searches that were not among the topic's own: what it leads on to, its question, and its
    subject with what is missing.
    """
    if ahead:
        return tuple(
            Recommendation(
                query=bridge.name,
                purpose=f"“{topic.name}” leads on to it.",
                priority="high",
                max_results=MOST_RESULTS,
            )
            for bridge in ahead
        )
    subject = " ".join(plan.subjects[:2])
    texts = [
        topic.question.rstrip("?"),
        f"{subject} {' '.join(missing)}".strip(),
        f"{topic.name} tutorial",
        f"{subject} guide documentation",
    ]
    asked = {query.text.lower() for query in topic.queries}
    fresh = [text for text in dict.fromkeys(texts) if text.lower() not in asked]
    return tuple(
        Recommendation(
            query=text,
            purpose=f"Fill the gap in “{topic.name}”.",
            priority="high",
            max_results=MOST_RESULTS,
        )
        for text in fresh[:2]
    )
