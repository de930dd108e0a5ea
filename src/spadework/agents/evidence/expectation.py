"""Check whether quotes contain the kind of answer a topic expects, and find what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from spadework.agents.evidence.passages import Judgement, PassageView, Spot
from spadework.agents.extractive.writer import rows_in
from spadework.deadline import Late
from spadework.tools.ranking.conflicts import about_the_same, disagreement
from spadework.tools.text.facts import dates, names, numbers, spelled_numbers, stems
from spadework.tools.text.language import Phrases, language, language_of, spoken
from spadework.tools.text.markdown import plain
from spadework.tools.text.sentences import sentences
from spadework.tools.web.urls import domain_of
from spadework.values import (
    CODE,
    Coverage,
    Evidence,
    Expected,
    Freshness,
    Plan,
    Priority,
    Problem,
    QuestionType,
    Recommendation,
    Shortfall,
    Topic,
)

#: Kinds of answers that other pages can confirm or contradict.
FACTS: frozenset[Expected] = frozenset({"number", "date", "name"})
#: The maximum number of passages to examine for a fact, and of pages to quote for and against it.
MOST_SHOWN, MOST_QUOTED = 60, 2
#: The fraction of the judging time that may be spent on confirming facts.
CONFIRMING = 0.1


def confirm_fact(
    plan: Plan, topic: Topic, judgement: Judgement, shown: Sequence[PassageView], late: Late
) -> tuple[Judgement, list[Problem]]:
    """Add quotes from independent pages that confirm or contradict a judgement about a fact, at
    most MOST_QUOTED of each kind. If time runs out, stop and report a problem.
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
    """Return the word stems of a topic's question, excluding words from the plan's subjects."""
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
    """Return "same" if a statement agrees with a claim, "other" if it disagrees, else ""."""
    if any(disagreement(said, claim, asked, (title, its)) for claim, its in claims):
        return "other"
    for claim, _ in claims:
        code = spoken(said, claim)
        values = numbers(said, code) & numbers(claim, code) or names(said) & names(claim)
        if values and about_the_same(said, claim):
            return "same"
    return ""


#: The question types that need evidence from at least SEVERAL domains.
SEVERAL_VOICES: frozenset[QuestionType] = frozenset({"compare", "evaluate", "list", "latest"})
SEVERAL = 3


class Standard(NamedTuple):
    """A topic's minimum and target quality (0 to 10) and minimum number of source domains."""

    quality: float = 7.5
    target: float = 8.0
    domains: int = 1


def standard_of(question_type: QuestionType) -> Standard:
    """Return the evidence standard for a question type."""
    return Standard(domains=SEVERAL if question_type in SEVERAL_VOICES else 1)


_TECHNICAL = re.compile(
    r"\b(?:commands?|scripts?|programs?|apis?|syntax|configur\w+|snippets?|functions?)\b",
    re.IGNORECASE,
)
#: Matches "code" and up to two words before it, but neither "codes" nor "code P0420".
_CODE = re.compile(
    r"(?:(?:(?P<before>[\w'’]+)\s+)?(?P<by>[\w'’-]+)\s+)?(?<![\w-])code\b(?!\s+\w*\d)",
    re.IGNORECASE,
)
#: Words before "code" that mean source code.
_SOURCE = frozenset(("source", "example", "sample"))
#: Words that show that the next word is a verb, as in "I write code".
_ACTS = frozenset(("i", "you", "we", "they", "to"))


def wants_code(asked: str) -> bool:
    """Return whether a question might ask for source code."""
    return bool(_TECHNICAL.search(asked)) or any(
        not _is_named(found) for found in _CODE.finditer(asked)
    )


def _is_named(found: re.Match[str]) -> bool:
    """Return whether the word before "code" shows that source code is not meant ("exit code")."""
    before, by = found["before"] or "", found["by"] or ""
    spoken = language(language_of(found.string) or "en")
    if not by or by.casefold() in spoken.stop | _SOURCE or before.casefold() in _ACTS:
        return False
    first = found.start("by") == 0
    return not spoken.request.match(found.string) if first else by[0].islower()


LEAST_STEPS, LEAST_ITEMS = 2, 2
#: A sentence with more separators (a comma, "and" or "or") than this counts as a list.
LEAST_COMMAS = 1
#: A topic that asks for a table is also satisfied by this many evidence entries, even if none of
#: them is a table row.
LEAST_ROWS = 3
#: Without a model, only comparisons with exactly this many sides can be checked.
SIDES = 2
_YEAR = re.compile(r"(?<!\d)(?:1\d|20|21)\d\d(?!\d)|\d\d?[./-]\d\d?[./-]\d\d")
_LISTED = re.compile(r"[,;、，]|\s(?:and|or|und|oder|et|ou|y|o|и|или)\s")


def holds_expected(topic: Topic, known: Sequence[Evidence]) -> bool:
    """Return whether the quotes contain what the topic expects, as far as rules can tell."""
    check = _CHECKS.get(topic.expects)
    return check is None or check(topic, [e for e in known if e.kind != "columns"])


def _number(topic: Topic, known: Sequence[Evidence]) -> bool:
    asked = numbers(topic.question, spoken(topic.question))
    for quote in (e.quote for e in known):
        code = spoken(quote)
        if (numbers(quote, code) | spelled_numbers(quote, code)) - asked:
            return True
    return _items(topic, known)


def _date(topic: Topic, known: Sequence[Evidence]) -> bool:
    return any(_YEAR.search(e.quote) or dates(e.quote, spoken(e.quote)) for e in known)


def _name(topic: Topic, known: Sequence[Evidence]) -> bool:
    asked = names(f"- {topic.question}")
    return any(_without_capitals(e.quote) or names(f"- {e.quote}") - asked for e in known)


def _without_capitals(text: str) -> bool:
    return any(sign.isalpha() and sign.upper() == sign.lower() for sign in text)


def _definition(topic: Topic, known: Sequence[Evidence]) -> bool:
    code = spoken(topic.question)
    asked = stems(topic.question, code)
    return any(asked & stems(f"{e.quote} {e.heading} {e.title}", code) for e in known)


def _steps(topic: Topic, known: Sequence[Evidence]) -> bool:
    steps = sum(e.kind in ("item", "text") for e in known)
    return steps >= LEAST_STEPS or any(e.kind == "code" for e in known)


def _code(topic: Topic, known: Sequence[Evidence]) -> bool:
    return any(e.kind == "code" or "`" in e.quote for e in known)


def _items(topic: Topic, known: Sequence[Evidence]) -> bool:
    listed = sum(len(rows_in(e)) for e in known if e.kind in ("item", "row", "cells"))
    return (
        listed >= LEAST_ITEMS
        or len({e.url for e in known}) >= LEAST_ITEMS
        or any(len(_LISTED.findall(e.quote)) > LEAST_COMMAS for e in known if e.kind == "text")
    )


def _rows(topic: Topic, known: Sequence[Evidence]) -> bool:
    return any(e.kind in ("row", "cells") for e in known) or len(known) >= LEAST_ROWS


def _both(topic: Topic, known: Sequence[Evidence]) -> bool:
    """Return whether the quotes mention both sides of a comparison. If no quote is in the
    question's language, return True, because names may be spelled differently.
    """
    code = spoken(topic.question)
    if len(topic.must_cover) != SIDES or all(spoken(e.quote) != code for e in known):
        return True
    shown = [stems(f"{e.quote} {e.heading} {e.title} {e.claim}", code) for e in known]
    one, other = (stems(side, code) for side in topic.must_cover)
    apart = (one - other or one, other - one or other)
    return all(any(side & held for held in shown) for side in apart)


_CHECKS: dict[Expected, Callable[[Topic, Sequence[Evidence]], bool]] = {
    "number": _number,
    "date": _date,
    "name": _name,
    "definition": _definition,
    "steps": _steps,
    "code": _code,
    "items": _items,
    "rows": _rows,
    "both sides": _both,
}
#: The maximum age of the newest evidence, in days, by required freshness.
FRESH_DAYS: dict[Freshness, int] = {"now": 31, "recent": 366}
#: A quote with fewer words than this and no code is probably a menu.
LEAST_WORDS = 5
#: The number of hits to request, by search priority.
RESULTS: dict[Priority, int] = {"high": 5, "medium": 5, "low": 4}
#: The search priority for each kind of missing evidence. The default is "medium".
_PRIORITIES: dict[str, Priority] = {
    "definition": "high",
    "steps": "high",
    "dates": "high",
    "confirmation": "low",
}

_LIBRARY = "library://"
_DATE = re.compile(r"\b(?:1[5-9]|20)\d\d\b")

#: Kinds of answers that may include code if the topic is technical.
_MAY_BE_CODE = frozenset(("code", "steps", "open"))


class _Kind(NamedTuple):
    expects: Expected
    lacking: str
    query: str


_KINDS: dict[QuestionType, _Kind] = {
    "what": _Kind("definition", "no_definition", "what is {about} definition"),
    "howto": _Kind("steps", "no_steps", "{about} step by step"),
}


def shortfalls(
    plan: Plan, coverage: Mapping[str, Coverage], ledger: Sequence[Evidence], standard: Standard
) -> tuple[Shortfall, ...]:
    """Return what is missing from the evidence so far. Topics without any evidence are skipped."""
    proven = {t.name: own for t in plan.topics if (own := [e for e in ledger if e.topic == t.name])}
    if not proven:
        return ()
    topics = [t for t in plan.topics if t.name in proven]
    say = Phrases(plan.language)
    found = [*_of_the_kind(plan, topics, proven), *_whole(plan, ledger, standard)]
    for topic in topics:
        own, judged = proven[topic.name], coverage.get(topic.name)
        by_model = bool(judged and judged.covered and judged.judge != CODE)
        # A model that judged the topic to be covered has already considered whether code is
        # needed.
        if not (by_model and topic.expects == "open"):
            found += _lacks_code(topic, own, say)
        found += _navigation(topic, own, say)
        if judged is None or not judged.near:  # without an answer, there is nothing to confirm
            found += _single_sourced(topic, own, say)
        found += _quality(topic, judged, standard.quality)
    return tuple(found)


def _of_the_kind(
    plan: Plan, topics: Sequence[Topic], proven: Mapping[str, Sequence[Evidence]]
) -> Iterator[Shortfall]:
    about = " ".join(plan.subjects) or plan.question.rstrip("?")
    say = Phrases(plan.language)
    ledger = [e for own in proven.values() for e in own]
    if kind := _KINDS.get(plan.question_type):
        asks = next((topic for topic in topics if topic.expects == kind.expects), topics[0])
        if not holds_expected(asks.model_copy(update={"expects": kind.expects}), ledger):
            # `kind.query` is English, so for other languages, search for the topic's question
            # instead.
            english = plan.language.lower().startswith("en")
            query = kind.query.format(about=about) if english else asks.question
            yield _lacks(kind.expects, asks.name, say(kind.lacking, about=about), query)
    if plan.question_type == "latest" and not any(
        e.published_at or _DATE.search(e.quote) for e in ledger
    ):
        yield _lacks("dates", topics[0].name, say("no_dates"), f"{about} latest news date")


def _lacks_code(topic: Topic, own: Sequence[Evidence], say: Phrases) -> Iterator[Shortfall]:
    asked = (topic.name, topic.question, *topic.must_cover)
    if topic.expects not in _MAY_BE_CODE:
        return  # other kinds of answers need no code
    if any(map(wants_code, asked)) and not any(e.kind == "code" for e in own):
        text = say("no_code", topic=topic.name)
        yield _lacks("code", topic.name, text, f"{_query(topic)} example code")


def _navigation(topic: Topic, own: Sequence[Evidence], say: Phrases) -> Iterator[Shortfall]:
    if all(e.kind != "code" and len(e.quote.split()) < LEAST_WORDS for e in own):
        text = say("menu", topic=topic.name)
        yield _lacks("navigation", topic.name, text, f"{_query(topic)} explained")


def _single_sourced(topic: Topic, own: Sequence[Evidence], say: Phrases) -> Iterator[Shortfall]:
    if topic.expects in FACTS and len({e.origin for e in own}) == 1:
        text = say("alone", topic=topic.name)
        yield _lacks("confirmation", topic.name, text, topic.question.rstrip("?"))


def _quality(topic: Topic, coverage: Coverage | None, floor: float) -> Iterator[Shortfall]:
    rated = coverage.quality.mean if coverage and coverage.quality else floor
    if coverage and rated < floor:
        text = (
            f"What was read about “{topic.name}” was rated {rated:.1f} of 10 as a basis for an"
            f" answer; at least {floor:.1f} is wanted."
        )
        own = next(iter(coverage.recommendations), None)
        yield Shortfall(
            kind="quality",
            topic=topic.name,
            text=text,
            recommendation=own or search(topic.question.rstrip("?")),
        )


def _whole(plan: Plan, ledger: Sequence[Evidence], standard: Standard) -> Iterator[Shortfall]:
    """Yield shortfalls if all web evidence is too old or undated, or if domains are too few."""
    web = [e for e in ledger if not e.url.startswith(_LIBRARY)]
    if not web:
        return
    query, say = _query(plan.topics[0]), Phrases(plan.language)
    days = FRESH_DAYS.get(plan.freshness)
    newest = max((e.published_at for e in web if e.published_at), default=None)
    if days and (newest is None or newest < max(e.fetched_at for e in web) - timedelta(days=days)):
        text = say("newest", day=newest.date().isoformat()) if newest else say("undated")
        yield _lacks("freshness", "", text, f"{query} latest")
    domains = tuple(dict.fromkeys(domain_of(e.url) for e in ledger))
    if len(domains) < standard.domains:
        one = "domain" if len(domains) == 1 else "domains"
        text = say(one, many=len(domains), least=standard.domains)
        elsewhere = search(query).model_copy(update={"exclude_domains": domains})
        yield Shortfall(kind="domains", text=text, recommendation=elsewhere)


def _query(topic: Topic) -> str:
    return topic.queries[0].text if topic.queries else topic.name


def _lacks(kind: str, topic: str, text: str, query: str) -> Shortfall:
    return Shortfall.model_validate(
        {
            "kind": kind,
            "topic": topic,
            "text": text,
            "recommendation": search(query, text, _PRIORITIES.get(kind, "medium")),
        }
    )


def search(query: str, purpose: str = "", priority: Priority = "medium") -> Recommendation:
    """Return a recommended search. Its priority determines how many hits are requested."""
    return Recommendation(
        query=query, purpose=purpose, priority=priority, max_results=RESULTS[priority]
    )
