"""The editor: composes by code what surrounds the sections of a report, and reviews the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from spadework.tools.export.markdown import escaped
from spadework.tools.urls import host_of, hosts_for_urls
from spadework.values import (
    STATE_WORDS,
    Conflict,
    Coverage,
    Evidence,
    Plan,
    Problem,
    Quality,
    Result,
    Round,
    Section,
    Sentence,
    Shortfall,
    Source,
    Verdict,
)

#: Problems that a reader of the report needs to see; all are in the record.
MOST_PROBLEMS = 8

#: Queries that are named of what was tried for a topic.
MOST_TRIED = 4
_UNREAD = "What was found for it could not be read."
_NONE: Mapping[str, Any] = MappingProxyType({})

#: By how much of the whole weight one side of a disagreement is ahead when it is named.
CLEAR = 0.1

#: What was found of the sentences that stand in a report.
_FOUND: dict[Verdict, str] = {
    "supported": "sentences are borne out by what they cite",
    "inference": "conclude from it",
    "could not check": "could not be checked",
}


@dataclass(frozen=True)
class Made:
    """Who wrote and who judged the sentences of a report ("" for code), and what was found."""

    writer: str
    judge: str
    verdicts: Mapping[Verdict, int]


_ENDED = {
    "coverage": "Every topic is answered.",
    "iterations": "The rounds of searching that were allowed are used.",
    "marginal utility": "The last round of searching added next to nothing.",
    "price": "What is open was not searched again: little was to be expected for what it takes.",
    "nothing left to ask": "No further search was left that could fill the gaps.",
    "time": "The time was over before every topic was answered.",
    "nothing searched": "No search was answered.",
    "revised": "",
    "known": "It is answered from what the session before has proven; nothing was searched for it.",
    "stop": "The run was stopped before it was done.",
}


def disagreements(conflicts: Sequence[Conflict], ledger: Mapping[str, Evidence] = _NONE) -> Section:
    """Both sides of every conflict, with their evidence, and of when each is."""
    lines = []
    for conflict in conflicts:
        lines.append(
            Sentence(
                text=(
                    f"“{conflict.topic}”: the sources disagree ({conflict.kind})."
                    f" {_majority(conflict)}{_dated(conflict, ledger)}"
                )
            )
        )
        lines += [
            Sentence(text=side.claim, evidence_ids=side.evidence_ids) for side in conflict.sides
        ]
    return Section(heading="Disagreements", kind="conflicts", sentences=tuple(lines))


def _majority(conflict: Conflict) -> str:
    """Which side weighs more, by independent origins, trust and recency. The heaviest side stands
    first.
    """
    first, second = (side.weight for side in conflict.sides[:2])
    if first - second < CLEAR:
        return "None weighs clearly more."
    return (
        f"The first of these weighs more: {first:.0%}, by independent origins, their trust and how"
        " recent they are."
    )


def _dated(conflict: Conflict, ledger: Mapping[str, Evidence]) -> str:
    """The newest day of each side, where both are known."""
    days = []
    for side in conflict.sides[:2]:
        of = [ledger[i].published_at for i in side.evidence_ids if i in ledger]
        days.append(max((day for day in of if day), default=None))
    first, second = (day.date().isoformat() if day else "" for day in days)
    return f" The first is of {first}, the second of {second}." if first and second else ""


def not_found(
    plan: Plan,
    coverage: Mapping[str, Coverage],
    tried: Mapping[str, Sequence[str]] = _NONE,
    missing: Sequence[str] = (),
    unread: AbstractSet[str] = frozenset(),
) -> Section:
    """What a complete answer would have, and this one has not, with what was `tried` for it (the
    queries by topic): topics, and what is `missing` of what must be covered. For the topics
    `unread` there are pages that could not be read.
    """
    lines = []
    for topic in plan.topics:
        found = coverage.get(topic.name) or Coverage(topic=topic.name, covered=False, score=0.0)
        if found.state != "answered":
            gaps = _listed(found.gaps) if found.gaps else ""
            nothing = _UNREAD if topic.name in unread else "Nothing was found."
            gaps = gaps or nothing * (found.state == "open")
            said = f"“{topic.name}” is {STATE_WORDS[found.state]}. {gaps}".strip()
            same = {_bare(text) for text in (plan.question, topic.question, topic.name)}
            own = [query for query in tried.get(topic.name, ()) if _bare(query) not in same]
            lines.append(f"{said} {_tried(own)}".strip())
    told = _bare(" ".join(lines))
    lines += [
        f"“{must}” is open: no section of the report answers it."
        for must in missing
        if _bare(must) not in told
    ]
    return Section(
        heading="Not found", kind="limits", sentences=tuple(Sentence(text=line) for line in lines)
    )


def _listed(gaps: Sequence[str]) -> str:
    """What is missing, as the judge says it, in one sentence; or its own sentences."""
    if any(gap.endswith((".", "?", "!")) for gap in gaps):
        return " ".join(gaps)
    return f"Missing: {'; '.join(gaps)}."


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .?!")


def _tried(queries: Sequence[str]) -> str:
    """What was searched for, the last of it in a number."""
    named = [f"“{query}”" for query in queries[:MOST_TRIED]]
    more = len(queries) - len(named)
    rest = f" and {more} more" if more else ""
    return f"Searched for {', '.join(named)}{rest}." if named else ""


def limits(shortfalls: Sequence[Shortfall]) -> Section:
    """What the evidence lacks though topics may be answered. Marks are for the result."""
    told = [shortfall for shortfall in shortfalls if shortfall.kind != "quality"]
    return Section(
        heading="Limits",
        kind="limits",
        sentences=tuple(Sentence(text=shortfall.text) for shortfall in told),
    )


def problem_lines(problems: Sequence[Problem]) -> Section:
    """What went wrong, by name and host, without URLs. Every provider that failed is named with how
    it failed first. What did not hold is in the result and the editorial review.
    """
    providers = {p.subject: p for p in reversed(problems) if p.stage == "search"}
    failed = list(
        dict.fromkeys(_line(providers[p.subject]) for p in problems if p.stage == "search")
    )
    lines = list(dict.fromkeys(_line(p) for p in problems if p.stage not in ("verifier", "search")))
    more = len(lines) - MOST_PROBLEMS
    shown = [
        *failed,
        *lines[:MOST_PROBLEMS],
        *([f"{more} more in the record of the session."] if more > 0 else []),
    ]
    return Section(
        heading="Problems", kind="limits", sentences=tuple(Sentence(text=line) for line in shown)
    )


def _line(problem: Problem) -> str:
    return f"{_said(problem)} {problem.effect if '://' not in problem.effect else ''}".strip()


def about(
    made: Made, searched: Sequence[str], notices: Sequence[str], pages: int, why: str
) -> Section:
    """How the report came about."""
    how = (
        f"Written by {made.writer} from quoted evidence, and judged sentence by sentence by"
        f" {made.judge}, which was examined before: {_told(made.verdicts)}."
    )
    if not made.writer:
        how = (
            "Composed without a language model: the sentences are quoted from the sources as they"
            " stand there, and no model judged whether they answer the question."
        )
    ended = _ENDED.get(why, f"The budget of {why} was spent." if why else "")
    lines = [
        how,
        ""
        if why == "known"
        else f"Searched: {'; '.join(searched) or 'nothing'}. Pages read: {pages}.",
        *notices,
        ended,
    ]
    return Section(
        heading="About this report",
        kind="limits",
        sentences=tuple(Sentence(text=line) for line in lines if line),
    )


def _told(verdicts: Mapping[Verdict, int]) -> str:
    """How many sentences are what."""
    counts = [
        f"{verdicts[verdict]} {said}" for verdict, said in _FOUND.items() if verdict in verdicts
    ]
    return ", ".join(counts) or "no sentence held"


def _likely(result: Result) -> str:
    """The calibrated probability of a report without a model."""
    if result.confidence is None:
        return ""
    return f" The answer is there with a probability of {result.confidence:.2f}."


def review(result: Result) -> str:
    """The editorial review of a result, as Markdown."""
    lines = [
        f"# Editorial review: {escaped(result.question)}",
        "",
        f"Status: {result.status}.{_likely(result)}",
        "",
    ]
    for topic in result.topics:
        origins = len({e.origin for e in topic.evidence})
        lines.append(
            f"- “{escaped(topic.name)}” is {STATE_WORDS[topic.state]}: score {topic.score},"
            f" {len(topic.evidence)} quotes from {origins} independent origins."
        )
        if topic.quality:
            lines.append(f"  - Quality: {_rated(topic.quality)}")
        lines += [f"  - Gap: {escaped(gap)}" for gap in topic.gaps]
    lines += [
        f"- Lacks: {escaped(shortfall.text)} “{escaped(shortfall.recommendation.query)}” would be"
        " searched next."
        for shortfall in result.shortfalls
    ]
    lines += [_gained(done) for done in result.rounds]
    cited = {c.sentence for c in result.citations}
    lines += [
        "",
        (
            f"{len(cited)} cited sentences, {len(result.conflicts)} disagreements,"
            f" {len(result.problems)} problems."
        ),
    ]
    lines += [
        f"- {p.stage}, {escaped(p.subject)}: {escaped(p.reason)} {escaped(p.effect)}"
        for p in result.problems
    ]
    left_out = [e for t in result.topics for e in t.evidence if e.id in result.left_out]
    lines += ["", "## Evidence that the report does without", ""] if left_out else []
    lines += [f"- {e.id}: {escaped(e.claim or e.quote)}" for e in left_out]
    lines += _unused(result.sources)
    return "\n".join(lines) + "\n" + (f"\n{result.opinion}" if result.opinion else "")


def _unused(sources: Sequence[Source]) -> list[str]:
    """The pages on which no sentence rests, under the reasons."""
    found = [source for source in sources if source.unused]
    if not found:
        return []
    lines = ["", "## Pages that were read and are not cited"]
    for why in dict.fromkeys(source.unused for source in found):
        own = [source for source in found if source.unused == why]
        lines += ["", f"{why} ({len(own)})", ""]
        lines += [f"- {escaped(one.title or one.url)} ({escaped(one.domain)})" for one in own]
    return lines


def _rated(quality: Quality) -> str:
    scores = ", ".join(
        f"{name.replace('_', ' ')} {score:g}" for name, score in quality.model_dump().items()
    )
    return f"{quality.mean:g} of 10 ({scores})"


def _gained(done: Round) -> str:
    """What a round of searching gained, as a line."""
    line = (
        f"- Round {done.number}: {done.evidence_before} → {done.evidence_after} quotes, score"
        f" {done.score_before:g} → {done.score:g}"
    )
    before = "not rated" if done.quality_before is None else f"{done.quality_before:g}"
    return f"{line}." if done.quality is None else f"{line}, quality {before} → {done.quality:g}."


def _named(problem: Problem) -> str:
    return host_of(problem.subject) if "://" in problem.subject else problem.subject


def _said(problem: Problem) -> str:
    """What went wrong, with the name of what it happened to, once."""
    name, reason = _named(problem), _without_urls(problem.reason)
    return reason if reason.startswith(name) else f"{name}: {reason}"


def _without_urls(text: str) -> str:
    return hosts_for_urls(text)
