"""The editorial review of a result by code: coverage of each topic, and every problem."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.export.markdown_report import escape_markdown
from spadework.values import STATE_WORDS, Result, Round, Source


def review(result: Result) -> str:
    """Return the editorial review of a result as Markdown."""
    lines = [f"# Editorial review: {escape_markdown(result.question)}", ""]
    lines += [f"Status: {result.status}.", ""]
    for topic in result.topics:
        origins = len({e.origin for e in topic.evidence})
        lines.append(
            f"- “{escape_markdown(topic.name)}” is {STATE_WORDS[topic.state]}:"
            f" {len(topic.evidence)} quotes from {origins} independent origins."
        )
        if topic.quality:
            rated = topic.quality.model_dump().items()
            scores = ", ".join(f"{name.replace('_', ' ')} {score:g}" for name, score in rated)
            lines.append(f"  - Quality: {topic.quality.mean:g} of 10 ({scores})")
        lines += [f"  - Gap: {escape_markdown(gap)}" for gap in topic.gaps]
    lines += [
        f"- Lacks: {escape_markdown(shortfall.text)}"
        f" “{escape_markdown(shortfall.recommendation.query)}” would be"
        " searched next."
        for shortfall in result.shortfalls
    ]
    lines += [_describe_gain(done) for done in result.rounds]
    cited = {c.sentence for c in result.citations}
    many = f"{len(cited)} cited sentences, {len(result.conflicts)} disagreements"
    lines += ["", f"{many}, {len(result.problems)} problems."]
    lines += [
        f"- {p.stage}, {escape_markdown(p.subject)}: {escape_markdown(p.reason)}"
        f" {escape_markdown(p.effect)}"
        for p in result.problems
    ]
    left_out = [e for t in result.topics for e in t.evidence if e.id in result.left_out]
    lines += ["", "## Evidence that the report does without", ""] if left_out else []
    lines += [f"- {e.id}: {escape_markdown(e.claim or e.quote)}" for e in left_out]
    lines += _list_unused(result.sources)
    return "\n".join(lines) + "\n" + (f"\n{result.opinion}" if result.opinion else "")


def _list_unused(sources: Sequence[Source]) -> list[str]:
    found = [source for source in sources if source.unused]
    if not found:
        return []
    lines = ["", "## Pages that were read and are not cited"]
    for why in dict.fromkeys(source.unused for source in found):
        own = [source for source in found if source.unused == why]
        lines += ["", f"{why} ({len(own)})", ""]
        lines += [
            f"- {escape_markdown(one.title or one.url)} ({escape_markdown(one.domain)})"
            for one in own
        ]
    return lines


def _describe_gain(done: Round) -> str:
    line = f"- Round {done.number}: {done.evidence_before} → {done.evidence_after} quotes"
    before = "not rated" if done.quality_before is None else f"{done.quality_before:g}"
    return f"{line}." if done.quality is None else f"{line}, quality {before} → {done.quality:g}."
