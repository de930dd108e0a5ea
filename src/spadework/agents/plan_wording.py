"""A change of a plan that is said in plain words: "drop the second topic", "add costs", "only the
last year". By rules; what they do not understand is for the lead's model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spadework.agents.answer_shape import at_most
from spadework.agents.fallback import first_of
from spadework.agents.model import Model
from spadework.agents.plan_edits import MOST_TOPICS, with_topics
from spadework.prompts import render
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.text.facts import stems
from spadework.tools.text.language import language
from spadework.values import Freshness, Plan, Problem, Visible

_POLITE = re.compile(
    r"^(?:(?:please|ok(?:ay)?|yes|but|and|then|also|can you|could you|i(?:'d| would) like"
    r"(?: you)? to|i want(?: you)? to|let(?:'|’)?s|let us)\b[\s,]*)+"
    r"|(?<![\s,])[\s,]*\bplease\b[\s.!]*$",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:drop|remove|delete|skip|omit|forget|leave out|without|keep|only|add|include|rename|call)"
)
_AND = re.compile(
    rf"\s*;\s*|\s*[,.]?\s+(?:and|but|then)\s+(?:also\s+)?(?={_VERBS}\b)", re.IGNORECASE
)
_DROP = re.compile(
    r"(?:drop|remove|delete|skip|omit|forget(?: about)?|leave out|without|no)\s+(.+)", re.IGNORECASE
)
_KEEP = re.compile(r"(?:keep(?: only| just)?|only(?: keep)?|just(?: keep)?)\s+(.+)", re.IGNORECASE)
_ADD = re.compile(
    r"(?:add|include|plus|also(?: add| include| look at)?|look(?: also)? at)\s+(?:a |the )?"
    r"(?:topic (?:on|about|for)\s+|something (?:on|about)\s+)?(.+)",
    re.IGNORECASE,
)
_RENAME = re.compile(
    r"(?:rename|call)\s+(.+?)\s+(?:to|as|into|:)\s+(.+)"
    r"|(?:rename|call)\s+(\d+|the \w+(?: (?:one|topic|point))?)\s+(.+)",
    re.IGNORECASE,
)
_LATELY = re.compile(
    r"(?:only|just)?\s*(?:pages?|news|sources?|things?|what is)?\s*(?:from|of|in|within|since)?\s*"
    r"(?:(?:the )?(?:last|past) (?:year|12 months|twelve months)|recent(?: pages?| sources?)?"
    r"|nothing older than (?:a|one) year)",
    re.IGNORECASE,
)
_ANY_TIME = re.compile(r"(?:from )?(?:any|all) (?:time|years|dates)|also older(?: pages?)?", re.I)
_ORDINALS = {
    word: n
    for words in (
        "first second third fourth fifth sixth seventh eighth",
        "one two three four five six seven eight",
        "1st 2nd 3rd 4th 5th 6th 7th 8th",
    )
    for n, word in enumerate(words.split(), 1)
}
_ENDS = re.compile(r"(first|last)\s+(\w+)(?:\s+(?:topics?|ones?|points?))?", re.IGNORECASE)
#: What stands around the name or the number of a topic.
_AROUND = re.compile(
    r"\b(?:the|topics?|points?|parts?|numbers?|no|everything|anything|all|about|on|one|ones|#)\b|[#.]",
    re.IGNORECASE,
)
_LIST = re.compile(r"\s*(?:,|&|\band\b|\bor\b)\s*|(?<=\d)\s+(?=\d)", re.IGNORECASE)


def samples(plan: Plan) -> tuple[str, ...]:
    """How a change of this plan can be said."""
    of_several = ("drop the second topic",) if len(plan.topics) > 1 else ()
    return (*of_several, "add costs", "only the last year")


class Worded(NamedTuple):
    """The plan after what was said; `said` is why not all came of it, either since it cannot be
    done or, where it was not `understood`, since a model might know what is meant.
    """

    plan: Plan
    said: str = ""
    understood: bool = True


class _NotUnderstoodError(Exception):
    """What was said, and is for a model."""


def by_words(plan: Plan, wish: str, *, sure: bool = True) -> Worded:
    """What plain words make of a plan: one change, or several one after the other; of several what
    can be done. Where they must be `sure`, no name is taken that may hold more than a name ("add
    swing after 1"), and what is not understood is left whole.
    """
    now, failed, understood = plan, list[str](), True
    for part in _AND.split(" ".join(wish.split())):
        clause = _POLITE.sub("", part.strip()).strip(" .!,")
        try:
            now, said, _ = _change_clause(now, clause, sure=sure) if clause else Worded(now)
            failed += [said] if said else []
        except _NotUnderstoodError as error:
            if sure:
                return Worded(plan, str(error), understood=False)
            failed, understood = [*failed, str(error)], False
    if now == plan and not failed:
        failed = [f"“{wish[:60]}” changes nothing."]
    return Worded(now, " ".join(failed), understood)


def _change_clause(plan: Plan, clause: str, *, sure: bool) -> Worded:
    names = [topic.name for topic in plan.topics]
    if _LATELY.fullmatch(clause):
        return Worded(plan.model_copy(update={"freshness": "recent"}))
    if _ANY_TIME.fullmatch(clause):
        return Worded(plan.model_copy(update={"freshness": "any"}))
    if found := _RENAME.fullmatch(clause):
        which, name = found[1] or found[3], found[2] or found[4]
        _check(clause, name, sure=sure)
        places, said = _find_meant(names, which)
        if len(places) > 1:
            said = f"“{which[:60]}” is more than one topic."
        renamed = [name if at in places else old for at, old in enumerate(names)]
        return _name_topics(plan, renamed, said)
    if found := (drop := _DROP.fullmatch(clause)) or _KEEP.fullmatch(clause):
        places, said = _find_meant(names, found[1])
        left = [n for at, n in enumerate(names) if (at in places) != bool(drop)]
        return _name_topics(plan, left, said)
    if found := _ADD.fullmatch(clause):
        _check(clause, found[1].replace(",", " "), sure=sure)
        more = [part[:1].upper() + part[1:] for part in re.split(r"\s*,\s*", found[1]) if part]
        return _name_topics(plan, [*names, *more])
    raise _NotUnderstoodError(f"“{clause[:60]}” is not understood.")


def _check(clause: str, name: str, *, sure: bool) -> None:
    """Raises _NotUnderstoodError for a name with a word that is none of a name."""
    spoken = language("en")
    others = spoken.stop | spoken.starters
    if sure and any(not w.isalpha() or w.lower() in others for w in re.split(r"[\s-]+", name)):
        raise _NotUnderstoodError(f"“{clause[:60]}” is not understood.")


def _name_topics(plan: Plan, names: Sequence[str], said: str = "") -> Worded:
    if not said and not names:
        said = "A plan needs at least one topic."
    if not said and len(names) > MOST_TOPICS:
        said = f"A plan has at most {MOST_TOPICS} topics."
    folded = [name.casefold() for name in names]
    if twice := next((name for name in names if folded.count(name.casefold()) > 1), ""):
        said = said or f"“{twice[:60]}” would stand in the plan twice."
    return Worded(plan, said) if said else Worded(with_topics(plan, names))


def _find_meant(names: Sequence[str], which: str) -> tuple[set[int], str]:
    """The places of the topics that are meant, from 0; or why none are."""
    if (ends := _ENDS.fullmatch(which.removeprefix("the ").strip())) and (
        count := _number(ends[2])
    ):
        many = range(min(count, len(names)))
        return {at if ends[1].lower() == "first" else len(names) - 1 - at for at in many}, ""
    # A name may hold an "and": the whole is tried first.
    if (whole := _one(names, which)) is not None:
        return {whole}, ""
    places = set[int]()
    for part in _LIST.split(which):
        if (place := _one(names, part)) is None:
            number = part.strip() if part.strip().isdecimal() else _number(_bare(part))
            if number:
                return set(), f"There is no topic {str(number)[:9]}: the plan has {len(names)}."
            raise _NotUnderstoodError(f"“{part.strip()[:60]}” is no topic of the plan.")
        places.add(place)
    return places, ""


def _number(word: str) -> int:
    return int(word[:9]) if word.isdecimal() else _ORDINALS.get(word.lower(), 0)


def _one(names: Sequence[str], said: str) -> int | None:
    """The place of the topic with this number or name, or whose name alone has these words."""
    bare = _bare(said)
    number = _number(bare) or _number(said.strip().lower())
    if bare == "last" or 1 <= number <= len(names):
        return len(names) - 1 if bare == "last" else number - 1
    same = [at for at, name in enumerate(names) if name.lower() in (bare, said.strip().lower())]
    words = stems(" ".join(query_terms(bare)) or bare)
    alike = [at for at, name in enumerate(names) if words and words <= stems(name)]
    found = same or alike
    return found[0] if len(found) == 1 else None


def _bare(said: str) -> str:
    return " ".join(_AROUND.sub(" ", said).split()).lower()


class WishedAnswer(Visible):
    """A plan as it was wished: all its topics by name, in their order, and how recent its pages
    shall be.
    """

    topics: list[str] = at_most(MOST_TOPICS)
    freshness: Freshness


async def apply_wish(
    model: Model | None, plan: Plan, wish: str, *, seconds: float
) -> tuple[Worded, list[Problem]]:
    """The plan with what is wished of it, or why it stays as it is; and what failed."""
    found = by_words(plan, wish, sure=model is not None)
    if found.understood:
        return found, []
    failed = Worded(
        found.plan, f"{found.said} Say it as: {', '.join(samples(plan))}, rename 1 to NAME."
    )
    if model is None:
        return failed, []
    prompt = render("wished", question=plan.question, plan=plan, wish=wish)

    async def ask(model: Model) -> Worded:
        answer = await model.ask("lead", prompt, WishedAnswer, seconds=seconds)
        now = with_topics(plan, [name for name in map(str.strip, answer.topics) if name])
        now = now.model_copy(update={"freshness": answer.freshness})
        return failed if now == plan else Worded(now)

    effect = "The plan was left as it was."
    return await first_of(model, "lead", "plan", ask, lambda: failed, effect)
