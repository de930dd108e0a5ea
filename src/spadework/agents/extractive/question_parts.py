"""What a question asks, read from its words: its parts, the kind of each and what would answer it.
A kind that is not sure is not claimed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from itertools import groupby

from spadework.agents.extractive.weights import weigh_features, weights
from spadework.tools.text.detect import language_of
from spadework.tools.text.facts import stems
from spadework.tools.text.language import language
from spadework.values import Expected, QuestionType

#: From this probability on the kind of a question is sure.
SURE = 0.6
#: Kinds of questions as the classifier tells them, with their type and what answers them.
_KINDS: dict[str, tuple[QuestionType, Expected]] = {
    "fact": ("fact", "open"),
    "definition": ("what", "definition"),
    "howto": ("howto", "steps"),
    "list": ("general", "items"),
    "comparison": ("compare", "both sides"),
}
#: What a question for a fact expects, by the first of its cues.
_FACTS: tuple[tuple[str, Expected], ...] = (
    ("count", "number"),
    ("date", "date"),
    ("who", "name"),
    ("measure", "number"),
)
#: What code can check of an answer. Any two sentences pass for steps, any two items for a list.
_CHECKED: frozenset[Expected] = frozenset({"number", "date", "name", "both sides"})
_NAME = re.compile(
    r"[A-Z0-9][\w'’.-]*[\w](?:\s+(?:(?:of|the|de|la|von|van|and the)\s+)*[A-Z0-9][\w'’.-]*\w)*"
)
_QUOTED = re.compile(r"[\"“]([^\"”]{2,80})[\"”]")
_CUT = re.compile(r"[:;,?]|\s[-–—]\s")
_WORD = re.compile(r"[\w][\w'’.+#-]*[\w+#]|\w")


@dataclass(frozen=True)
class Asked:
    """One part of a question; `type` is "general" and `expects` "open" where its kind is not
    `sure`. `sides` are the two things of a comparison.
    """

    text: str
    type: QuestionType = "general"
    expects: Expected = "open"
    sides: tuple[str, ...] = ()
    sure: bool = False


def parts(question: str) -> list[Asked]:
    """The parts of a question; at least one.

    It is parted only where every later part takes up the first by a pronoun, which is replaced by
    what the first is about: what stands in no part for itself would be lost; and where each part is
    surely of another kind, and says what would answer it: facts about one thing are looked for
    together. Only parts expect more than code can check: it is what tells them apart.
    """
    whole = " ".join(question.split())
    spoken = language(language_of(whole) or "en")
    split = spoken.joins.split(whole)
    texts = [text.strip(" ?.!;,") for text in split if text.strip(" ?.!;,")]
    about = subject_of(texts[0]) if texts else ""
    later = [with_subject(text, about) for text in texts[1:]]
    if not later or any(text == old for text, old in zip(later, texts[1:], strict=True)):
        return [_checked(read(whole))]
    made = [read(f"{text[:1].upper()}{text[1:]}?") for text in (texts[0], *later)]
    told = {part.type for part in made if part.expects != "open"}
    return made if len(told) == len(made) else [_checked(read(whole))]


def _checked(part: Asked) -> Asked:
    """A question with what it expects where code can check that: in other words it would often
    expect something else, which changes no report (benchmarks/README.md).
    """
    return part if part.expects in _CHECKED else replace(part, type="general", expects="open")


def read(text: str) -> Asked:
    """A question of one part with its kind, where that is sure; without a cue it never is."""
    code = language_of(text) or "en"
    found = language(code).asked(text)
    kind, likely = kind_of(dict.fromkeys(found, 1.0))
    if not found or likely < SURE:
        return Asked(text)
    type_, expects = _KINDS[kind]
    if kind == "fact":
        answers: list[Expected] = [answer for cue, answer in _FACTS if cue in found]
        expects = answers[0] if answers else expects
    sides = sides_of(text, code) if kind == "comparison" else ()
    if kind == "comparison" and not sides:
        return Asked(text)
    return Asked(text, type_, expects, sides, sure=True)


def kind_of(cues: dict[str, float]) -> tuple[str, float]:
    """The likeliest kind of a question with these cues, and its probability (softmax)."""
    scores = {
        kind: weigh_features(cues, by) + by.get("bias", 0.0) for kind, by in weights().kind.items()
    }
    raised = {kind: math.exp(score - max(scores.values())) for kind, score in scores.items()}
    best = max(raised, key=lambda kind: raised[kind])
    return best, raised[best] / math.fsum(raised.values())


def sides_of(text: str, code: str) -> tuple[str, ...]:
    """The two things that a question compares, as it names them, or ()."""
    for pattern in language(code).sides:
        if match := pattern.search(text.strip(" ?.!")):
            sides = tuple(_CUT.split(side)[0].strip() for side in match.groups())
            return sides if all(sides) else ()
    return ()


def aspects(text: str, code: str) -> list[str]:
    """What a question asks that is looked for apart: for each side of a comparison the question
    without the other one; else its parts.
    """
    if sides := sides_of(text, code):
        return [text.replace(other, " ") for other in reversed(sides)]
    found = [part for part in language(code).joins.split(text) if len(stems(part, code)) > 1]
    return found or [text]


def names_in(text: str) -> list[str]:
    """The names in a question: runs of capitalised words, without those that begin a sentence
    (but what follows a question word there), and what stands in quotes.
    """
    stop = language(language_of(text) or "en").stop
    named = (_of_the_name(text, match, stop) for match in _NAME.finditer(text))
    return list(dict.fromkeys([*_QUOTED.findall(text), *filter(None, named)]))


def _of_the_name(text: str, match: re.Match[str], stop: frozenset[str]) -> str:
    """What is the name of a run of capitalised words; "" for one that only begins a sentence."""
    name = re.sub(r"['’]s$", "", match.group())
    if match.start() > 0 and text[: match.start()].rstrip()[-1:] not in (*".?!",):
        return name
    first, _, rest = name.partition(" ")
    return rest if re.split("['’]", first.casefold())[0] in stop else ""


def subject_of(text: str) -> str:
    """What a question is about: its first name, else its longest run of words that are no function
    words, of equal ones the last: "invented" stands before what was invented.
    """
    if named := names_in(text):
        return named[0]
    stop = language(language_of(text) or "en").stop
    grouped = groupby(_WORD.findall(text), key=lambda word: word.casefold() not in stop)
    found = [" ".join(run) for content, run in grouped if content]
    return max(reversed(found), key=lambda run: len(run.split()), default=text.strip(" ?"))


def with_subject(text: str, subject: str) -> str:
    """The text with its pronouns replaced by `subject`, but for those that stand for nothing."""
    spoken = language(language_of(text) or "en")
    if not subject or not spoken.pronouns:
        return text
    words = "|".join(map(re.escape, spoken.pronouns))

    def replace(found: re.Match[str]) -> str:
        return found[0] if spoken.expletive.match(text, found.start()) else subject

    return re.sub(rf"\b(?:{words})\b", replace, text, flags=re.IGNORECASE)
