"""The editor's opinion of a finished report, by a model in deep effort. It is kept beside the
report and changes nothing in it.
"""

from __future__ import annotations

from spadework.agents.fallback import first_of
from spadework.agents.model import Model, at_most
from spadework.prompts import render
from spadework.tools.export.markdown import escaped
from spadework.values import Problem, Result, Visible

#: Points of praise and of blame at most.
MOST_POINTS = 5


class OpinionAnswer(Visible):
    """What an editor thinks of a report."""

    verdict: str
    strengths: list[str] = at_most(MOST_POINTS)
    weaknesses: list[str] = at_most(MOST_POINTS)


async def opinion(model: Model, result: Result, *, seconds: float) -> tuple[str, list[Problem]]:
    """The opinion as Markdown, "" when the model gives none."""

    async def ask(model: Model) -> str:
        topics = [{"name": t.name, "state": t.state, "gaps": t.gaps} for t in result.topics]
        prompt = render("editor", question=result.question, report=result.report, topics=topics)
        return _markdown(await model.ask("writer", prompt, OpinionAnswer, seconds=seconds))

    said, problems = await first_of(model, "writer", "editorial review", ask, str)
    return said, [
        p.model_copy(update={"effect": "The review is composed by code alone."})
        if "extractive" in p.effect
        else p
        for p in problems
    ]


def _markdown(answer: OpinionAnswer) -> str:
    lines = ["## The editor's opinion", "", escaped(answer.verdict)]
    for heading, points in (("Strengths", answer.strengths), ("Weaknesses", answer.weaknesses)):
        if points:
            lines += ["", f"### {heading}", "", *(f"- {escaped(point)}" for point in points)]
    return "\n".join(lines) + "\n"
