"""Decide whether a question can be researched as it is, or what to ask the user."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.extractive import doubt as extractive
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.events import Asked
from spadework.prompts import render
from spadework.values import Hit, Problem, Question, Visible


class DoubtAnswer(Visible):
    """A question for the user, empty if none is needed, and its options."""

    question: str
    options: list[str] = at_most(extractive.MOST_OPTIONS)


async def doubt(
    model: Model | None, question: Question, hits: Sequence[Hit], *, seconds: float
) -> tuple[Asked | None, list[Problem]]:
    """Return what to ask the user before planning, or None. `hits` come from a first search."""

    async def ask(model: Model) -> Asked | None:
        answer = await model.ask(
            "lead", render("doubt", question=question, hits=hits), DoubtAnswer, seconds=seconds
        )
        if not answer.question.strip():
            return None
        return Asked(
            kind="clarify",
            text=answer.question.strip(),
            options=tuple(answer.options)[: extractive.MOST_OPTIONS],
        )

    return await first_of(
        model, "lead", question.text, ask, lambda: extractive.doubt(question, hits)
    )


def clarify_question(question: str, answer: str, asked: str = "") -> str:
    """Add the user's answer to the question.

    "What is Mercury?", `asked` "Which one?" and the answer "the planet" become "What is Mercury
    (Which one? the planet)?". If the question lacks a subject, the answer replaces its pronoun:
    "What is it?" and "Heron" become "What is Heron?".
    """
    said = " ".join(answer.split())
    if said and not asked and (whole := extractive.name_subject(question, said)):
        return whole
    said = f"{asked} {said}".strip() if said else ""
    mark = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({said}){mark}" if said else question
