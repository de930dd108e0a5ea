"""Find other pages that confirm or contradict a fact before its topic closes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from spadework.agents.evidence.passages import Judgement, PassageView, Spot
from spadework.deadline import Late
from spadework.tools.ranking.conflicts import about_the_same, disagreement
from spadework.tools.text.facts import names, numbers, stems
from spadework.tools.text.language import spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.sentences import sentences
from spadework.values import Expected, Plan, Problem, Topic

#: Expected answers that other pages can confirm or contradict.
FACTS: frozenset[Expected] = frozenset({"number", "date", "name"})
#: The maximum number of passages to examine, best first, and of pages to quote for each side.
MOST_SHOWN, MOST_QUOTED = 60, 2
#: The fraction of the judging time that confirming facts may take.
CONFIRMING = 0.1


def confirm_fact(
    plan: Plan, topic: Topic, judgement: Judgement, shown: Sequence[PassageView], late: Late
) -> tuple[Judgement, list[Problem]]:
    """Add quotes from other origins to a judgement about a fact.
    At most MOST_QUOTED quotes that agree are added, and as many that disagree. If time runs out,
    return what was found and a problem.
    """
    if topic.expects not in FACTS or not judgement.spots:
        return judgement, []
    code, asked = spoken(topic.question), asked_of(plan, topic)
    claims = [
        (said, spot.page.title)
        for spot in judgement.spots
        if stems(said := plain(spot.quote), code) & asked
    ]
    if not _one_value([said for said, _ in claims], numbers(topic.question, code)):
        return judgement, []
    quoted = {_origin(spot) for spot in judgement.spots}
    found: dict[str, list[Spot]] = {"same": [], "other": []}
    problems: list[Problem] = []
    for said, spot in _statements(topic, asked, shown):
        if late():
            reason = "There was no time to look for pages that confirm or contradict it."
            problems = [Problem(stage="judge", subject=topic.name, reason=reason)]
            break
        if _origin(spot) in quoted:
            continue
        into = found.get(_side(said, spot.page.title, claims, asked))
        if into is not None and len(into) < MOST_QUOTED:
            into.append(spot)
            quoted.add(_origin(spot))
    whole = (*judgement.spots, *found["same"], *found["other"])
    return replace(judgement, spots=whole), problems


def asked_of(plan: Plan, topic: Topic) -> set[str]:
    """Return the stems of a topic's question without the names of its subjects."""
    code = spoken(topic.question)
    words = stems(topic.question, code)
    return words - stems(" ".join(plan.subjects), code) or words


def _one_value(claims: Sequence[str], known: set[str]) -> bool:
    code = spoken(*claims)
    values = [numbers(said, code) - known or names(said) for said in claims]
    return len(claims) <= MOST_QUOTED or bool(set.intersection(*map(set, values)))


def _origin(found: Spot | PassageView) -> str:
    return found.page.origin or found.page.url


def _statements(
    topic: Topic, asked: set[str], shown: Sequence[PassageView]
) -> Iterator[tuple[str, Spot]]:
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
    """Return "same" if a statement agrees with a claim, "other" if it disagrees, or ""."""
    if any(disagreement(said, claim, asked, (title, its)) for claim, its in claims):
        return "other"
    for claim, _ in claims:
        code = spoken(said, claim)
        values = numbers(said, code) & numbers(claim, code) or names(said) & names(claim)
        if values and about_the_same(said, claim):
            return "same"
    return ""
