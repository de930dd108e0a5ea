"""Decide whether a question can be researched as it is, or what to ask the user."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spadework.agents.extractive.comparison import is_nominal
from spadework.agents.extractive.lead import in_context
from spadework.agents.extractive.question_parts import names_in, parts, put_in
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.events import Asked
from spadework.prompts import render
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.text.language import language, language_of
from spadework.values import Hit, Problem, Question, Visible

MOST_OPTIONS = 6

#: Encyclopedia titles that tell namesakes apart, such as "Mercury (planet)".
_NAMESAKE = re.compile(r"^(?P<name>[^()]{2,80}?)\s*\((?P<sense>[^()]{2,60})\)")


class DoubtAnswer(Visible):
    """A question for the user (empty if none is needed) and its options."""

    question: str
    options: list[str] = at_most(MOST_OPTIONS)


async def doubt(
    model: Model | None, question: Question, hits: Sequence[Hit], *, seconds: float
) -> tuple[Asked | None, list[Problem]]:
    """Return what to ask the user before planning, or None. `hits` come from the first broad
    search.
    """

    async def ask(model: Model) -> Asked | None:
        answer = await model.ask(
            "lead", render("doubt", question=question, hits=hits), DoubtAnswer, seconds=seconds
        )
        if not answer.question.strip():
            return None
        return Asked(
            kind="clarify",
            text=answer.question.strip(),
            options=tuple(answer.options)[:MOST_OPTIONS],
        )

    return await first_of(model, "lead", question.text, ask, lambda: doubt_by_rules(question, hits))


def clarify_question(question: str, answer: str, asked: str = "") -> str:
    """Add the user's answer to the question. "What is Mercury?", `asked` "Which one?" and the
    answer "the planet" become "What is Mercury (Which one? the planet)?". If the question lacks a
    subject, the answer replaces its pronoun: "What is it?" and "Heron" become "What is Heron?".
    """
    said = " ".join(answer.split())
    if said and not asked and (whole := name_subject(question, said)):
        return whole
    said = f"{asked} {said}".strip() if said else ""
    mark = "?" if question.rstrip().endswith("?") else ""
    return f"{question.rstrip(' ?')} ({said}){mark}" if said else question


def name_subject(question: str, answer: str) -> str:
    """Return a vague question with the answer in place of its pronoun. Return "" if it has no
    pronoun, or the answer is more than a name.
    """
    named = is_nominal(answer, language(language_of(question) or "en"))
    replaced = put_in(question, answer) if named and not query_terms(question) else question
    return replaced if replaced != question else ""


def doubt_by_rules(question: Question, hits: Sequence[Hit]) -> Asked | None:
    """Return what to ask the user before planning, or None if the question seems clear."""
    if not query_terms(question.text) and not question.earlier:
        return Asked(kind="clarify", text="What is your question about?")
    named = (part.sides or names_in(part.text) for part in parts(in_context(question)))
    asked = {name.casefold(): name for names in named for name in names}
    senses: dict[str, dict[str, str]] = {}
    for match in filter(None, (_NAMESAKE.match(hit.title) for hit in hits)):
        name, sense = match["name"].casefold(), match["sense"].strip()
        if name in asked and sense.casefold() not in question.text.casefold():
            senses.setdefault(name, {}).setdefault(sense.casefold(), sense)
    for name, meant in senses.items():
        if len(meant) > 1:
            return Asked(
                kind="clarify",
                text=f"Which {asked[name]} do you mean?",
                options=tuple(meant.values())[:MOST_OPTIONS],
            )
    return None
