"""Confirmation of facts: before a topic closes, other pages are quoted that agree or disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spadework.agents.evidence.passages import Judgement, PassageView, Spot
from spadework.tools.ranking.disagreement import about_the_same, disagreement
from spadework.tools.text.facts import names, numbers, stems
from spadework.tools.text.language import spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Expected, Plan, Topic

#: Answers that other pages can confirm or contradict.
FACTS: frozenset[Expected] = frozenset({"number", "date", "name"})
#: Maximum passages examined, best first, and pages quoted per side.
MOST_SHOWN, MOST_QUOTED = 60, 2


def confirm_fact(
    plan: Plan, topic: Topic, judgement: Judgement, shown: Sequence[PassageView]
) -> Judgement:
    """Add to the judgement of a factual topic quotes of other origins: at most MOST_QUOTED that
    agree, and as many that disagree.
    """
    if topic.expects not in FACTS or not judgement.spots:
        return judgement
    code, asked = spoken(topic.question), asked_of(plan, topic)
    claims = [
        (said, spot.page.title)
        for spot in judgement.spots
        if stems(said := plain(spot.quote), code) & asked
    ]
    if not _one_value([said for said, _ in claims], numbers(topic.question, code)):
        return judgement
    quoted = {_origin(spot) for spot in judgement.spots}
    same, other = list[Spot](), list[Spot]()
    for said, spot in _statements(topic, asked, shown):
        side = _side(said, spot.page.title, claims, asked)
        into = same if side == "same" else other
        if not side or _origin(spot) in quoted or len(into) >= MOST_QUOTED:
            continue
        into.append(spot)
        quoted.add(_origin(spot))
    return replace(judgement, spots=(*judgement.spots, *same, *other))


def asked_of(plan: Plan, topic: Topic) -> set[str]:
    """Return the stems of what a topic asks about its subjects, without their names."""
    code = spoken(topic.question)
    words = stems(topic.question, code)
    return words - stems(" ".join(plan.subjects), code) or words


def _one_value(claims: Sequence[str], known: set[str]) -> bool:
    """Return whether the quotes may be one fact; quotes without a common value are different
    ones.
    """
    code = spoken(*claims)
    values = [numbers(said, code) - known or names(said) for said in claims]
    return len(claims) <= MOST_QUOTED or bool(set.intersection(*map(set, values)))


def _origin(found: Spot | PassageView) -> str:
    return found.page.origin or found.page.url


def _statements(
    topic: Topic, asked: set[str], shown: Sequence[PassageView]
) -> Iterator[tuple[str, Spot]]:
    """Yield sentences of the best passages that are about the question and contain a value."""
    code = spoken(topic.question)
    known = numbers(topic.question, code)
    for passage in shown[:MOST_SHOWN]:
        for start, end in sentences(passage.text):
            said = plain(passage.text[start:end])
            holds = numbers(said, code) - known or (topic.expects == "name" and names(said))
            if holds and asked & stems(said, code):
                at = passage.start + start
                yield (said, Spot(passage.page, at, passage.start + end, passage.text[start:end]))


def _side(said: str, title: str, claims: Sequence[tuple[str, str]], asked: set[str]) -> str:
    """Return whether a statement says the "same" as a claim, something "other" about it, or ""."""
    if any(disagreement(said, claim, asked, (title, its)) for claim, its in claims):
        return "other"
    for claim, _ in claims:
        code = spoken(said, claim)
        values = numbers(said, code) & numbers(claim, code) or names(said) & names(claim)
        if values and about_the_same(said, claim):
            return "same"
    return ""
