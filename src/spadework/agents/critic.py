"""In deep-effort runs, review the report and rewrite its weak sections."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.agents.report.marked_text import section_of, with_marks
from spadework.agents.report.material import entries_of
from spadework.agents.writer import SectionAnswer, with_code
from spadework.prompts import render
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.ranking.query_operators import in_words
from spadework.tools.text.language import Phrases
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import Evidence, Problem, Result, Review, Section, Visible, Weakness

BY_CODE = ("disagreements", "not_found", "problems", "about")
MOST_POINTS = 5


class WeaknessAnswer(Visible):
    """A weakness of a report, the section that contains it, and a search that might fix it."""

    section: str
    weakness: str
    query: str = ""
    topic: str = ""


class OpinionAnswer(Visible):
    """An editor's opinion of a report."""

    verdict: str
    strengths: list[str] = at_most(MOST_POINTS)
    weaknesses: list[WeaknessAnswer] = at_most(MOST_POINTS)


class RewrittenAnswer(SectionAnswer):
    """A rewritten section."""


async def review(
    model: Model, result: Result, *, seconds: float
) -> tuple[Review | None, list[Problem]]:
    """Return a model's review of a report, or None if the model fails."""

    async def ask(model: Model) -> Review | None:
        topics = [{"name": t.name, "state": t.state, "gaps": t.gaps} for t in result.topics]
        say = Phrases(result.document.language)
        prompt = render(
            "editor",
            question=result.question,
            report=result.report,
            topics=topics,
            by_code=", ".join(f"“{say(name)}”" for name in BY_CODE),
        )
        return _review(await model.ask("writer", prompt, OpinionAnswer, seconds=seconds))

    effect = "The editorial review was skipped."
    return await first_of(model, "writer", "editorial review", ask, lambda: None, effect)


async def rewrite(
    model: Model,
    question: str,
    section: Section,
    weaknesses: Sequence[str],
    evidence: Sequence[Evidence],
    *,
    seconds: float,
) -> tuple[Section, list[Problem]]:
    """Return a rewritten section, or the old one if the model fails."""
    prompt = render(
        "rewrite",
        question=question,
        heading=section.heading,
        markdown=with_marks(section),
        weaknesses=weaknesses,
        evidence=entries_of(evidence),
    )

    async def ask(model: Model) -> Section:
        answer = await model.ask("writer", prompt, RewrittenAnswer, seconds=seconds)
        told = section_of(section.heading, answer.markdown).made_by(answer.author)
        made = with_code(told, evidence)
        return made.model_copy(update={"kind": section.kind})

    effect = "The editorial review did not change the section."
    return await first_of(model, "writer", section.heading, ask, lambda: section, effect)


def describe_review(review: Review) -> str:
    """Format a review as Markdown, including the outcome of each weakness."""
    lines = ["## The editor's opinion", "", escape_markdown(review.verdict)]
    if review.strengths:
        lines += ["", "### Strengths", ""]
        lines += [f"- {escape_markdown(point)}" for point in review.strengths]
    if review.weaknesses:
        lines += ["", "### Weaknesses", ""]
    for point in review.weaknesses:
        where = f"{point.section}: " if point.section else ""
        lines.append("- " + escape_markdown(f"{where}{point.text} {point.outcome}".rstrip()))
    return "\n".join(lines) + "\n"


def _review(answer: OpinionAnswer) -> Review:
    points = [point for point in answer.weaknesses if not is_injection(point.weakness)]
    return Review(
        verdict=answer.verdict,
        strengths=tuple(answer.strengths[:MOST_POINTS]),
        weaknesses=tuple(
            Weakness(
                text=" ".join(point.weakness.split()),
                section=" ".join(point.section.split()),
                topic=point.topic.strip(),
                query=" ".join(point.query.split()) if in_words(point.query) else "",
            )
            for point in points[:MOST_POINTS]
        ),
    )
