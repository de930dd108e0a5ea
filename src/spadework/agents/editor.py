"""Compose a report's sections on disagreements, gaps, problems and method without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from types import MappingProxyType
from typing import Any

from spadework.tools.ranking.conflicts import figures_apart
from spadework.tools.text.facts import numbers, stems
from spadework.tools.text.language import ENGLISH, Phrases, language, spoken
from spadework.tools.text.sentences import is_ended, leads
from spadework.tools.web.urls import host_of, hosts_for_urls
from spadework.values import (
    CODE,
    Citation,
    Conflict,
    Coverage,
    Evidence,
    Plan,
    Problem,
    Section,
    Sentence,
    Shortfall,
    Side,
    Topic,
    models_among,
)

#: The maximum number of problems listed in the report. The run's record contains all of them.
MOST_PROBLEMS = 8

_NONE: Mapping[str, Any] = MappingProxyType({})

#: The minimum difference in weight at which one side of a disagreement counts as stronger.
CLEAR = 0.1

#: The phrases that report how many sentences got each verdict. "quoted" means quoted verbatim.
_QUOTED = "quoted"
_FOUND = {
    "supported": "found_supported",
    "inference": "found_inference",
    "could not check": "found_unchecked",
    _QUOTED: "found_quoted",
}
_ENDED = {
    "time": "ended_time",
    "nothing searched": "ended_unsearched",
    "nothing read": "ended_unread",
    "known": "ended_known",
    "stop": "ended_stop",
    "calls": "spent_calls",
    "searches": "spent_searches",
    "pages": "spent_pages",
    "tokens": "spent_tokens",
    "money": "spent_money",
}
#: The kinds of missing evidence that the report lists.
_GAPS = ("definition", "steps", "code", "dates")


def disagreements(
    conflicts: Sequence[Conflict], ledger: Mapping[str, Evidence] = _NONE, say: Phrases = ENGLISH
) -> Section:
    """Return a section that reports disagreements between sources, with dates and evidence."""
    lines = []
    for conflict in conflicts:
        sides, how = _weighed(conflict, ledger, say)
        told = _told_apart(conflict.kind, conflict.topic, sides, say)
        lines.append(Sentence(text=f"{told} {how}"))
        lines += [Sentence(text=side.claim, evidence_ids=side.evidence_ids) for side in sides]
    return Section(heading=say("disagreements"), kind="conflicts", sentences=tuple(lines))


def _told_apart(kind: str, topic: str, sides: Sequence[Side], say: Phrases) -> str:
    told = {"topic": topic, "kind": say(f"kind_{kind}")}
    apart = None
    if kind in ("number", "date") and len(sides) == 2:
        apart = figures_apart(sides[0].claim, sides[1].claim, years=kind == "date")
    if apart is None:
        return say("disagree", **told)
    return say("disagree_values", values=" / ".join(apart), **told)


def untold(conflicts: Sequence[Conflict], sections: Sequence[Section]) -> list[Conflict]:
    """Return the disagreements that no section reports in full, with the figures of every side."""
    return [one for one in conflicts if not any(_tells(each, one) for each in sections)]


def _tells(section: Section, conflict: Conflict) -> bool:
    ids = {id_ for one in section.sentences for id_ in one.evidence_ids}
    words = " ".join([*(one.text for one in section.sentences), *(p.text for p in section.parts)])
    said = numbers(words, spoken(words))
    figures = [numbers(side.claim, spoken(side.claim)) for side in conflict.sides]
    own = [
        found.difference(*(other for n, other in enumerate(figures) if n != at))
        for at, found in enumerate(figures)
    ]
    return all(
        ids.intersection(side.evidence_ids) and said & its
        for side, its in zip(conflict.sides, own, strict=True)
    )


def _weighed(
    conflict: Conflict, ledger: Mapping[str, Evidence], say: Phrases
) -> tuple[Sequence[Side], str]:
    """Return a conflict's sides, newest or strongest first, and a text that explains the order."""
    sides = [(side, day_of(side, ledger)) for side in conflict.sides]
    days = [day for side, day in sides if not side.changed_copy]
    copied = say("changed_copy") if any(side.changed_copy for side, _ in sides) else ""
    if conflict.kind == "number" and all(days) and len({*days}) > 1:
        sides.sort(key=lambda each: (not each[0].changed_copy, each[1]), reverse=True)
        first, *others = dict.fromkeys(day for side, day in sides if not side.changed_copy)
        told = say("newest_first", first=first, others=", ".join(others))
        return [side for side, _ in sides], f"{told} {copied}".strip()
    heaviest, second = (side.weight for side in conflict.sides[:2])
    weighs = "none_weighs" if heaviest - second < CLEAR else "first_weighs"
    known = all(day for _, day in sides[:2])
    dated = say("dated", first=sides[0][1], second=sides[1][1]) if known else ""
    said = (say(weighs, share=f"{heaviest:.0%}"), dated, copied)
    return conflict.sides, " ".join(filter(None, said))


def day_of(side: Side, ledger: Mapping[str, Evidence]) -> str:
    """Return the newest publication date of a side's evidence, or "" if unknown."""
    of = (ledger[id_].published_at for id_ in side.evidence_ids if id_ in ledger)
    return max((day.date().isoformat() for day in of if day), default="")


def not_found(
    plan: Plan,
    coverage: Mapping[str, Coverage],
    outlined: Sequence[str] | None = None,
    shortfalls: Sequence[Shortfall] = (),
    unread: AbstractSet[str] = frozenset(),
    say: Phrases = ENGLISH,
) -> Section:
    """Return the report section on what the answer lacks.
    - `outlined`: what the outline lists as missing, or None without an outline.
    - `unread`: topics with pages that could not be read.
    """
    lines, told, listed, lacking = [], "", set[str](), [*(outlined or ())]
    for topic in plan.topics:
        found = coverage.get(topic.name) or Coverage(topic=topic.name, covered=False, score=0.0)
        left = [gap for gap in found.gaps if outlined is None or gap in outlined]
        if found.state == "open" or (found.state == "partly" and not outlined):
            new = [gap for gap in left if _bare(gap) not in told]
            lines.append(_gap_of(topic, found, new, topic.name in unread, plan, say))
            told = _bare(" ".join([told, *lines]))
            listed |= {*left, *(topic.must_cover if left else ())}
    said = stems(told, plan.language)
    lacking = [one for one in dict.fromkeys(lacking) if one not in listed]
    rest = "; ".join(one.rstrip(".") for one in lacking if not stems(one, plan.language) <= said)
    lines += [say("missing", gaps=rest)] if rest else []
    asked = language(spoken(plan.question)).latest.search(plan.question)
    kinds = (*_GAPS, "freshness") if asked else _GAPS
    lines += [each.text for each in shortfalls if each.kind in kinds]
    return of_lines(say("not_found"), dict.fromkeys(lines))


def _gap_of(
    topic: Topic, found: Coverage, gaps: Sequence[str], unread: bool, plan: Plan, say: Phrases
) -> str:
    told = " ".join(gaps)
    if gaps and not any(map(is_ended, gaps)):
        told = say("missing", gaps="; ".join(gaps))
    told = told or (say("unread" if unread else "nothing") if found.state == "open" else "")
    whole = told and _bare(topic.name) == _bare(plan.question)
    return told if whole else f"{say(found.state, topic=topic.name)} {told}".strip()


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!")


def problem_lines(problems: Sequence[Problem], say: Phrases = ENGLISH) -> Section:
    """Return a section on the problems that no other section reports. It lists one problem per
    search provider, and at most MOST_PROBLEMS other problems.
    """
    providers = {p.subject: p for p in reversed(problems) if p.stage == "search"}
    failed = dict.fromkeys(_line(providers[p.subject]) for p in problems if p.stage == "search")
    elsewhere = ("verifier", "search", "read")
    lines = list(dict.fromkeys(_line(p) for p in problems if p.stage not in elsewhere))
    more = len(lines) - MOST_PROBLEMS
    shown = [*failed, *lines[:MOST_PROBLEMS], say("more", more=more) if more > 0 else ""]
    return of_lines(say("problems"), shown)


def _line(problem: Problem) -> str:
    subject, effect = problem.subject, problem.effect
    name = host_of(subject) if "://" in subject else subject
    reason = hosts_for_urls(problem.reason)
    fault = reason if reason.startswith(name) else f"{name}: {reason}"
    return f"{fault} {effect if '://' not in effect else ''}".strip()


def about(
    citations: Sequence[Citation],
    searched: Sequence[str],
    pages: tuple[int, int],
    notes: Sequence[str],
    why: str,
    say: Phrases = ENGLISH,
) -> Section:
    """Return a section on how the report was made.
    - `pages`: the number of pages read, and the number cited.
    - `why`: why the run ended early, if it did.
    """
    many, cited = pages
    read = say("page_read" if many == 1 else "pages_read", many=many, cited=cited)
    what = "; ".join(map(say.scope, searched))
    where = say("searched", pages=read, what=what) if what else f"{read}."
    lines = [
        _tell_makers(citations, say),
        "" if why == "known" else where,
        *notes,
        say(_ENDED[why]) if why in _ENDED else "",
    ]
    return of_lines(say("about"), lines)


def _tell_makers(citations: Sequence[Citation], say: Phrases) -> str:
    told = {c.sentence: c for c in citations if not leads(c.sentence)}.values()
    writers = ", ".join(models_among(c.maker for c in told))
    judges = ", ".join(models_among(c.judge for c in told))
    if not writers:
        return say("composed", many=len(told))
    quoted = {c.sentence for c in told if c.judge == CODE and c.verdict == "supported"}
    many = Counter(_QUOTED if c.sentence in quoted else c.verdict for c in told)
    found = ", ".join(say(name, many=many[kind]) for kind, name in _FOUND.items() if many[kind])
    return say("written" if judges else "unjudged", writer=writers, judge=judges, found=found)


def of_lines(heading: str, lines: Iterable[str]) -> Section:
    """Return a section of uncited sentences."""
    told = tuple(Sentence(text=line) for line in lines if line)
    return Section(heading=heading, kind="limits", sentences=told)
