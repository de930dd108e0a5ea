"""What a follow-up wants of the report that is there: another form of it, something more in it, or
an answer of its own. By its words where they are sure, else by the lead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from spadework.agents.model import Model
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.text.language import Language, codes, language
from spadework.values import Problem, Section, Value, Visible

#: `form`: the report is told otherwise, and nothing is searched. `more`: what it lacks is searched,
#: and the rest of it stays. `new`: a question of its own.
TurnKind = Literal["new", "more", "form"]
#: How the length of a report shall change.
Lengthened = Literal["", "shorter", "longer"]

_WORDS = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[a-z]{2,3}")


class Turn(Value):
    """What a follow-up wants. `language` is the code of another language, "" for the same."""

    kind: TurnKind
    language: str = ""
    length: Lengthened = ""


class TurnAnswer(Visible):
    """What a follow-up wants of a report; `language` is the code of that in which the report shall
    be, "" for the same.
    """

    kind: TurnKind
    language: str


async def turn_of(
    model: Model | None, asked: str, question: str, sections: Sequence[Section], *, seconds: float
) -> tuple[Turn, list[Problem]]:
    """What a follow-up wants of the report on `question` with these sections."""
    sure = sure_turn(asked)
    if sure is not None:
        return sure, []
    if model is None:
        return Turn(kind="more" if added(asked) else "new"), []
    headings = [section.heading for section in sections]
    prompt = render("turn", asked=asked, question=question, headings=headings)
    try:
        answer = await model.ask("lead", prompt, TurnAnswer, seconds=seconds)
    except (ModelError, BudgetSpent) as error:
        effect = "The follow-up was researched as a question of its own."
        problem = Problem(stage="lead", subject="follow-up", reason=str(error), effect=effect)
        return Turn(kind="new"), [*model.news("lead"), problem]
    code = answer.language.strip().lower().partition("-")[0]
    named = code if _CODE.fullmatch(code) else ""
    return Turn(kind=answer.kind, language=named), model.news("lead")


def sure_turn(asked: str) -> Turn | None:
    """A change of form that is named in words for form alone, such as "shorter, in German, please".
    None where other words stand there, or where it is a question.
    """
    return next(filter(None, (_form(asked, language(code)) for code in codes())), None)


def _form(asked: str, spoken: Language) -> Turn | None:
    named = spoken.revises
    if not named or ("?" in asked and not named["do"].search(asked)):
        # "Could it be Spanish?" asks what is so; "Can you say it in Spanish?" asks to do it.
        return None
    left, found = asked, dict[str, bool]()
    for name in ("shorter", "longer", "set"):
        left, count = named[name].subn(" ", left)
        found[name] = count > 0
    left = named["do"].sub(" ", named["polite"].sub(" ", left))
    words = [word.lower() for word in _WORDS.findall(left)]
    tongues = {spoken.tongues.get(word, "") for word in words}
    if "" in tongues or len(tongues) > 1 or not (tongues or any(found.values())):
        return None
    if found["shorter"] and found["longer"]:
        return None
    length: Lengthened = "shorter" if found["shorter"] else "longer" if found["longer"] else ""
    return Turn(kind="form", language=next(iter(tongues), ""), length=length)


def added(asked: str) -> str:
    """What shall be added to what is there, "" where it does not begin with a word for that:
    "please add the costs" adds "the costs".
    """
    for named in (language(code).revises for code in codes()):
        if named and (found := named["add"].match(left := _unpolite(asked, named["polite"]))):
            return left[found.end() :].strip()
    return ""


def _unpolite(asked: str, polite: re.Pattern[str]) -> str:
    """The words from the first that is not only polite on."""
    left = asked.strip()
    while found := polite.match(left):
        left = left[found.end() :].lstrip(" ,;:!.")
    return left
