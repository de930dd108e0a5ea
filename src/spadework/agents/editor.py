"""The editor: composes by code what surrounds the sections of a report, and reviews the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spadework.tools.export.markdown import escaped
from spadework.tools.urls import host_of, hosts_for_urls
from spadework.values import (
    STATE_WORDS,
    Conflict,
    Coverage,
    Plan,
    Problem,
    Quality,
    Result,
    Round,
    Section,
    Sentence,
    Shortfall,
    Verdict,
)

#: Problems that a reader of the report needs to see; all are in the record.
MOST_PROBLEMS = 8

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
    "nothing left to ask": "No further search was left that could fill the gaps.",
    "time": "The time was over before every topic was answered.",
    "nothing searched": "No search was answered.",
    "stop": "The run was stopped before it was done.",
}


def disagreements(conflicts: Sequence[Conflict]) -> Section:
    """Both sides of every conflict, with their evidence."""
    lines = []
    for conflict in conflicts:
        lines.append(
            Sentence(
                text=(
                    f"“{conflict.topic}”: the sources disagree ({conflict.kind})."
                    f" {_majority(conflict)}"
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


def not_found(plan: Plan, coverage: Mapping[str, Coverage], why: str) -> Section:
    """What a complete answer would have, and this one has not."""
    lines = []
    for topic in plan.topics:
        found = coverage.get(topic.name) or Coverage(topic=topic.name, covered=False, score=0.0)
        if found.state != "answered":
            gaps = " ".join(found.gaps) or "Nothing was found." * (found.state == "open")
            lines.append(f"“{topic.name}” is {STATE_WORDS[found.state]}. {gaps}".strip())
    return Section(
        heading="Not found", kind="limits", sentences=tuple(Sentence(text=line) for line in lines)
    )


def limits(shortfalls: Sequence[Shortfall]) -> Section:
    """What the evidence lacks though topics may be answered."""
    return Section(
        heading="Limits",
        kind="limits",
        sentences=tuple(Sentence(text=shortfall.text) for shortfall in shortfalls),
    )


def problem_lines(problems: Sequence[Problem]) -> Section:
    """What went wrong, by name and host, without URLs. Every provider that failed is named with how
    it failed first.
    """
    providers = {p.subject: p for p in reversed(problems) if p.stage == "search"}
    failed = list(
        dict.fromkeys(_line(providers[p.subject]) for p in problems if p.stage == "search")
    )
    lines = list(dict.fromkeys(_line(p) for p in problems if p.stage not in ("verifier", "search")))
    removed = sum(p.stage == "verifier" for p in problems)
    if removed:
        lines.append(
            "Quotes and sentences that did not hold against the pages, and were thrown away or"
            f" replaced: {removed}."
        )
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
        f"Searched: {'; '.join(searched) or 'nothing'}. Pages read: {pages}.",
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
    return "\n".join(lines) + "\n" + (f"\n{result.opinion}" if result.opinion else "")


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
