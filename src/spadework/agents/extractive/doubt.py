"""Decide without a model whether a question is unclear, because it has no subject or its hits'
titles show several meanings of a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spadework.agents.extractive.comparison import is_nominal
from spadework.agents.extractive.lead import in_context
from spadework.agents.extractive.question_parts import names_in, parts, put_in
from spadework.events import Asked
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.text.language import language, language_of
from spadework.values import Hit, Question

MOST_OPTIONS = 6

#: Titles by which encyclopedias distinguish namesakes, such as "Mercury (planet)".
_NAMESAKE = re.compile(r"^(?P<name>[^()]{2,80}?)\s*\((?P<sense>[^()]{2,60})\)")


def name_subject(question: str, answer: str) -> str:
    """Return a vague question with the answer in place of its pronoun. Return "" if it has no
    pronoun, or the answer is more than a name.
    """
    named = is_nominal(answer, language(language_of(question) or "en"))
    replaced = put_in(question, answer) if named and not query_terms(question) else question
    return replaced if replaced != question else ""


def doubt(question: Question, hits: Sequence[Hit]) -> Asked | None:
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
