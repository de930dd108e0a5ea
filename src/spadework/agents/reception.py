"""What is said at a door: small talk, a chore, or something to research. By rules, else a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from spadework.agents.chores import Chore, chore_of, done_by_code, done_by_model
from spadework.agents.llm.client import Model
from spadework.errors import BudgetSpent, ModelError
from spadework.prompts import render
from spadework.tools.text.language import DEFAULT, Talk, codes, language
from spadework.values import Value, Visible

#: `research` is for the graph, which tells a follow-up from a new question itself.
Kind = Literal["research", "talk", "chore"]
#: Beside small talk so many words are an unknown polite phrase, or a question: a model is asked.
FEW_WORDS = 6

_ASKING = re.compile("[?？]")
_SIGN = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
#: In scripts without spaces so many characters are about a word.
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]{2}")


class Received(Value):
    """What was said, and what is answered to it at once; "" where it is researched."""

    kind: Kind
    answer: str = ""


class ReceptionAnswer(Visible):
    """Whether something is asked that needs sources, and a short reply where not."""

    kind: Literal["research", "talk"]
    reply: str


RESEARCH = Received(kind="research")


class Heard(NamedTuple):
    """A message, what system messages say beside it, the user's before it, and the last answer."""

    said: str
    wishes: str = ""
    earlier: tuple[str, ...] = ()
    answer: str = ""

    def chore(self) -> Chore | None:
        """The chore that it asks for."""
        asked = "".join(f"User: {said}\n\n" for said in self.earlier)
        before = f"{asked}Assistant: {self.answer}" if self.answer else ""
        return chore_of(self.said, self.wishes, before)


def needs_a_model(heard: Heard) -> bool:
    """Whether a model, where there is one, does better with a message than rules."""
    return heard.chore() is not None or by_rules(heard.said) is None


async def receive_message(heard: Heard, model: Model | None, *, seconds: float) -> Received:
    """What a message is, and the answer to what needs no research, within `seconds`. Where there is
    no model, or it fails, code does the chores, and what is doubtful is researched.
    """
    chore = heard.chore()
    if not chore and (sure := by_rules(heard.said)) is not None:
        return sure
    try:
        if chore and model:
            done = await done_by_model(model, chore, seconds=seconds)
            return Received(kind="chore", answer=done)
        if model:
            prompt = render("reception", said=heard.said)
            found = await model.ask("lead", prompt, ReceptionAnswer, seconds=seconds)
            if found.kind == "talk" and (reply := found.reply.strip()):
                return Received(kind="talk", answer=reply)
    except (ModelError, BudgetSpent):
        pass
    if chore:
        return Received(kind="chore", answer=done_by_code(chore, heard.earlier, heard.answer))
    return RESEARCH


def by_rules(said: str) -> Received | None:
    """What a message that is no chore is, by rules; None where they are not sure. Small talk is
    answered in its language; what stands beside some other words may be a question or not.
    """
    left, talk, kind = _beside(said)
    if kind and not left:
        return Received(kind="talk", answer=talk.about if kind == "opens" else talk.welcome)
    words = len(_UNSPACED.findall(left)) + len(_WORD.findall(_UNSPACED.sub(" ", left)))
    doubtful = kind and words <= FEW_WORDS and not _ASKING.search(said)
    return None if doubtful else RESEARCH


def _beside(said: str) -> tuple[str, Talk, str]:
    """What stands beside small talk in a message, by the language that leaves least of it; how that
    talks, and whether it "opens" or "closes", "" for no small talk.
    """
    talks = [talk for talk in _spoken() if talk.opens.search(said) or talk.closes.search(said)]
    if not talks and said.strip() and not _WORD.search(said):
        return "", next(_spoken()), "closes"  # a thumb, a heart
    if not talks:
        return said, next(_spoken()), ""
    tried = [(_rest_of_message(said, talk), talk) for talk in talks]
    left, talk = min(tried, key=lambda each: len(each[0]))
    return left, talk, "opens" if talk.opens.search(said) else "closes"


def _rest_of_message(said: str, talk: Talk) -> str:
    for pattern in (talk.opens, talk.closes, talk.fill):
        said = pattern.sub(" ", said)
    return _SIGN.sub(" ", said).strip()


def _spoken() -> Iterator[Talk]:
    """How each language talks, that which is meant where nothing tells which one first."""
    for code in sorted(codes(), key=lambda code: code != DEFAULT):
        if talk := language(code).talk:
            yield talk
