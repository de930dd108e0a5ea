"""What a follow-up wants of the report that is there: another form of it, something more in it, or
an answer of its own, which what was proven may hold already. By its words where they are sure, else
by the lead, or by code where there is no model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from spadework.agents.entry_text import entries_of
from spadework.agents.extractive.follow_up import recall_answer
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.prompts import render
from spadework.tools.ranking.bm25 import Bm25
from spadework.tools.text import tokens
from spadework.tools.text.detect import spoken
from spadework.tools.text.language import Language, codes, language
from spadework.tools.text.markdown_marks import one_line
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import Evidence, Page, Problem, Question, Section, Value, Visible

#: `form`: the report is told otherwise, and nothing is searched. `more`: what it lacks is searched,
#: and the rest of it stays. `known`: a question of its own that its evidence answers. `new`: one
#: that is researched.
TurnKind = Literal["new", "more", "form", "known"]
#: Kinds for which nothing is searched.
UNSEARCHED = ("form", "known")
#: Entries of the ledger that answer a follow-up at most, and tokens of those the lead is shown.
MOST_PROOFS, LEDGER_TOKENS = 12, 4_000
#: Characters of a follow-up that a model has worded so that it stands alone, at most.
MOST_CHARS = 300
#: How the length of a report shall change.
Lengthened = Literal["", "shorter", "longer"]

_WORDS = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[a-z]{2,3}")


class Turn(Value):
    """What a follow-up wants. `language` is the code of another language, "" for the same. `proofs`
    are the ids of the entries that answer it, where they do, and `score` is how likely (0..1);
    `question` and `heading` say it alone, "" where nobody has worded it so.
    """

    kind: TurnKind
    language: str = ""
    length: Lengthened = ""
    proofs: tuple[str, ...] = ()
    score: float = 0.0
    question: str = ""
    heading: str = ""


class TurnAnswer(Visible):
    """What a follow-up wants of a report; `language` is the code of that in which the report shall
    be, "" for the same. Where the kind is `known`, `evidence` are the ids of what answers it,
    `question` says it alone, and `heading` in a few words.
    """

    kind: TurnKind
    language: str
    evidence: list[str] = at_most(MOST_PROOFS, [])
    question: str = ""
    heading: str = ""


class Reported(NamedTuple):
    """A report that is followed up: question, sections, evidence, and its pages by hash."""

    question: str
    sections: Sequence[Section]
    ledger: Sequence[Evidence]
    pages: Mapping[str, Page]


async def turn_of(
    model: Model | None, asked: Question, report: Reported, *, seconds: float
) -> tuple[Turn, list[Problem]]:
    """What a follow-up wants of a report."""
    if (sure := sure_turn(asked.text)) is not None:
        return sure, []
    if model is None:
        return await asyncio.to_thread(_by_code, asked, report), []
    prompt = render(
        "turn",
        asked=asked.text,
        question=report.question,
        headings=[section.heading for section in report.sections],
        evidence=entries_of(await shown_of(asked.text, report.ledger)),
    )

    async def ask(model: Model) -> Turn:
        answer = await model.ask("lead", prompt, TurnAnswer, seconds=seconds)
        return _build_turn(answer, report)

    effect = "The follow-up was researched as a question of its own."
    return await first_of(model, "lead", "follow-up", ask, lambda: Turn(kind="new"), effect)


def _build_turn(answer: TurnAnswer, report: Reported) -> Turn:
    """The turn that a model names; what it calls known without an entry that says so is new."""
    code = answer.language.strip().lower().partition("-")[0]
    named = code if _CODE.fullmatch(code) else ""
    if answer.kind != "known":
        return Turn(kind=answer.kind, language=named)
    ids = {e.id for e in report.ledger}
    named_ids = (said.strip(" []") for said in answer.evidence)
    proofs = tuple(dict.fromkeys(i for i in named_ids if i in ids))[:MOST_PROOFS]
    if not proofs:
        return Turn(kind="new")
    question, heading = (
        "" if is_injection(said) else one_line(said, MOST_CHARS)
        for said in (answer.question, answer.heading)
    )
    return Turn(kind="known", proofs=proofs, score=1.0, question=question, heading=heading)


def _by_code(asked: Question, report: Reported) -> Turn:
    if requested_addition(asked.text):
        return Turn(kind="more")
    proofs, score = recall_answer(asked, report.ledger, report.pages)
    return Turn(kind="known", proofs=proofs, score=score) if proofs else Turn(kind="new")


async def shown_of(asked: str, ledger: Sequence[Evidence]) -> list[Evidence]:
    """The entries that a lead is shown, those that share most with what is asked where there is no
    room for all, in their order.
    """
    await tokens.ready()
    entries = [e for e in ledger if e.kind != "columns"]
    index = Bm25(
        [f"{e.title} {e.heading} {e.quote}" for e in entries], [spoken(e.quote) for e in entries]
    )
    best = sorted(zip(index.scores(asked), range(len(entries)), strict=True), key=lambda s: -s[0])
    sizes = accumulate(tokens.count(entries[n].quote) for _, n in best)
    kept = {n for (_, n), size in zip(best, sizes, strict=True) if size <= LEDGER_TOKENS}
    return [e for n, e in enumerate(entries) if n in kept]


def sure_turn(asked: str) -> Turn | None:
    """A change of form in words for form alone, such as "shorter, in German, please"; else None."""
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


def requested_addition(asked: str) -> str:
    """What shall be added, "" for nothing: "please add the costs" adds "the costs"."""
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
