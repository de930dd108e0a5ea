"""The parts of a question, and what would answer each, by its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from spadework.agents.extractive.comparison import Compared, compared
from spadework.agents.extractive.taking_up import take_up
from spadework.tools.text.facts import stems
from spadework.tools.text.language import Language, language, language_of
from spadework.values import Expected, QuestionType

#: Minimum words for a thing and what is asked of it ("owns the ingestion service").
LEAST_WORDS = 3
#: A sentence of a question with its separator, and its clauses.
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|[。！？；]|\n|\Z)\s*", re.DOTALL)
_CLAUSE = re.compile(r"(?<=[;；])")
#: Maximum words of a clause about the form of the answer.
WISH_WORDS = 25
#: Question type and expected answer by the first matching cue.
_KINDS: dict[str, tuple[QuestionType, Expected]] = {
    "compare": ("compare", "both sides"),
    "steps": ("howto", "steps"),
    "count": ("fact", "number"),
    "date": ("fact", "date"),
    "who": ("fact", "name"),
    "measure": ("fact", "number"),
    "define": ("what", "definition"),
    "items": ("general", "items"),
}
#: Expected answers that code can check. Any two sentences pass for steps, any two items for a list.
_CHECKED: frozenset[Expected] = frozenset({"number", "date", "name", "both sides"})
#: A word of a name: "HTTP/2" is one, and so is "Vor- und Nachteile", whose halves are not.
_PART = r"(?:[A-Z][\w'’-]*-\s(?:and|or|und|oder)\s\w+|[A-Z0-9][\w'’.-]*\w(?:/\w+)*)"
_NAME = re.compile(rf"{_PART}(?:\s+(?:(?:of|the|de|la|von|van|and the)\s+)*{_PART})*")
_QUOTED = re.compile(r"[\"“]([^\"”]{2,80})[\"”]")
WORD = re.compile(r"[\w][\w'’.+#-]*[\w+#]|\w")


@dataclass(frozen=True)
class Asked:
    """One part of a question; `type` is "general" and `expects` "open" without a cue. `compared`
    are the things of a comparison.
    """

    text: str
    type: QuestionType = "general"
    expects: Expected = "open"
    compared: Compared | None = None

    @property
    def sides(self) -> tuple[str, ...]:
        """The things of a comparison, or ()."""
        return self.compared.sides if self.compared else ()


def without_wishes(question: str) -> tuple[str, list[str]]:
    """Return a question without requirements on the answer's form ("explain every abbreviation"),
    and those: clauses of at most WISH_WORDS words, without repeats.
    """
    spoken = language(language_of(question) or "en")
    kept: list[str] = []
    wishes = dict[str, None]()
    for sentence in _SENTENCE.findall(question):
        clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
        asked = [clause for clause in clauses if not _is_wish(clause.strip(), spoken)]
        wishes |= {c.strip(" \n.;。；"): None for c in clauses if c not in asked}
        kept += ["".join(asked)] if asked else []
    return "".join(kept).strip() if wishes else question, [*wishes]


def _is_wish(clause: str, spoken: Language) -> bool:
    short = len(clause.split()) <= WISH_WORDS and not clause.endswith(("?", "？"))
    return short and bool(spoken.form.match(clause))


def parts(question: str) -> list[Asked]:
    """Return the parts of a question, at least one.

    It is split only if every later part refers to the first by a pronoun, replaced by its subject,
    or names something else, so that nothing is lost; and if the parts have clearly different kinds
    of expected answers: facts about one thing are searched together.
    """
    whole = " ".join(question.split())
    spoken = language(language_of(whole) or "en")
    split = spoken.joins.split(whole)
    texts = [text.strip(" ?.!;,") for text in split if text.strip(" ?.!;,")]
    if len(texts) < 2:
        return [_expect(read(whole))]
    later = [take_up(text, texts[0], subject_of(texts[0])) for text in texts[1:]]
    made = [read(f"{text[:1].upper()}{text[1:]}?") for text in (texts[0], *later)]
    taken_up = [text != old for text, old in zip(later, texts[1:], strict=True)]
    told: set[str] = {part.type for part in made if part.expects != "open"}
    if not any(taken_up) and _stand_alone(texts, spoken):
        told = {part.expects for part in made if part.expects != "open"}
    elif not all(taken_up):
        told = set()
    return made if len(told) == len(made) else [_expect(read(whole))]


def _stand_alone(texts: Sequence[str], spoken: Language) -> bool:
    """Return whether each part has its own subject: "when was the film shown", "how many people
    came" and "who won each of the games" do not.
    """
    said = {word for text in texts[1:] for word in WORD.findall(text.casefold())}
    if not spoken.points or said & (spoken.points | spoken.pronouns):
        return False
    named = [set(names_in(text)) for text in texts]
    if len(set().union(*named)) < sum(map(len, named)):
        return False
    return all(own or _tells(text, spoken) for text, own in zip(texts, named, strict=True))


def _tells(text: str, spoken: Language) -> bool:
    """Return whether a question has enough words other than question words for a thing and what is
    asked of it.
    """
    asks = max((cue.match(text) for cue in spoken.cues.values()), key=lambda m: m.end() if m else 0)
    words = WORD.findall(text[asks.end() if asks else 0 :].casefold())
    return len(set(words) - spoken.stop) >= LEAST_WORDS


def _expect(part: Asked) -> Asked:
    """Return a question with its expected answer if code can check it; others vary with phrasing
    without changing any report (benchmarks/README.md).
    """
    return part if part.expects in _CHECKED else replace(part, type="general", expects="open")


def read(text: str) -> Asked:
    """Return a single-part question with its kind by its first cue; "open" without one. A
    comparison has at least two things.
    """
    code = language_of(text) or "en"
    found = language(code).cues_in(text)
    among = compared(text, code) if "compare" in found else None
    for cue, (type_, expects) in _KINDS.items():
        if cue in found and (cue != "compare" or among):
            return Asked(text, type_, expects, among if cue == "compare" else None)
    return Asked(text)


def aspects(text: str, code: str) -> list[str]:
    """Return the aspects searched separately: for each side of a comparison the question without
    the others; else its parts.
    """
    if among := compared(text, code):
        return [_without(text, among.sides, side) for side in among.sides]
    found = [part for part in language(code).joins.split(text) if len(stems(part, code)) > 1]
    return found or [text]


def _without(text: str, sides: Sequence[str], kept: str) -> str:
    """Return the question without all sides but one; the longest are removed first, as they may
    contain others.
    """
    found = rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(sides, key=len, reverse=True)))})(?!\w)"
    return re.sub(found, lambda side: side[0] if side[0] == kept else " ", text)


def names_in(text: str) -> list[str]:
    """Return the names in a question: capitalized runs, except sentence starts (unless after a
    question word), titles ("Gov.") and dates; and quoted text.
    """
    known = language(language_of(text) or "en")
    named = (_of_the_name(text, match, known) for match in _NAME.finditer(text))
    return list(dict.fromkeys([*_QUOTED.findall(text), *filter(None, named)]))


def _of_the_name(text: str, match: re.Match[str], known: Language) -> str:
    """Return the name in a capitalized run; "" if it only starts a sentence or is a date."""
    words = re.sub(r"['’]s$", "", match.group()).split()
    if text[match.end() : match.end() + 1] == ".":
        if known.abbreviations & {words[-1], words[-1].casefold()}:
            words.pop()
        elif "." in words[-1]:
            words[-1] += "."
    before = text[: match.start()].split()
    begins = not before or (
        before[-1].endswith((".", "?", "!"))
        and not known.abbreviations & {bare := before[-1].rstrip("."), bare.casefold()}
    )
    if begins and words and re.split("['’]", words[0].casefold())[0] in known.stop:
        del words[0]
    elif begins:
        return ""
    return _undated(words, known)


def _undated(words: Sequence[str], known: Language) -> str:
    """Return the words of a name without a date in it; "" where nothing but figures is left."""

    def dates(word: str) -> bool:
        return word.rstrip(".").casefold() in known.months or known.is_weekday(word.rstrip("."))

    groups = groupby(words, key=dates)
    runs = [list(run) for dated, run in groups if not dated]
    dated = len(runs) != 1 or len(runs[0]) != len(words)
    kept = [[word for word in run if not word[0].isdigit()] if dated else run for run in runs]
    named = [run for run in kept if any(word[0].isupper() for word in run)]
    best = max(named, key=len, default=[])
    while best and best[0][0].islower():
        best = best[1:]
    while best and best[-1][0].islower():
        best = best[:-1]
    return " ".join(best)


def counted(text: str, code: str) -> str:
    """Return what a question counts: the words behind "how many" up to a function word; "" where it
    counts nothing, or its language has no spaces.
    """
    known = language(code)
    found = known.cues["count"].search(text) if "count" in known.cues else None
    if not found or known.unspaced or found[0].split()[0].casefold() not in known.stop:
        return ""
    behind = WORD.findall(text[found.end() :])
    return " ".join(takewhile(lambda word: word.casefold() not in known.stop, behind))


def content_words(text: str) -> str:
    """Return the words of a question without function words."""
    stop = language(language_of(text) or "en").stop
    return " ".join(word for word in WORD.findall(text) if word.casefold() not in stop)


def subject_of(text: str) -> str:
    """Return a question's subject: its first name, else its longest run of content words, the last
    of equals: "invented" precedes what was invented.
    """
    if named := names_in(text):
        return named[0]
    stop = language(language_of(text) or "en").stop
    grouped = groupby(WORD.findall(text), key=lambda word: word.casefold() not in stop)
    found = [" ".join(run) for content, run in grouped if content]
    return max(reversed(found), key=lambda run: len(run.split()), default=text.strip(" ?"))
