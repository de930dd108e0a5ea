"""Split a question into parts, each with its kind of answer, and long pasted text into topics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from spadework.agents.extractive.comparison import Compared, compared
from spadework.tools.ranking.relevance import STOP_WORDS
from spadework.tools.text.facts import stem, stems
from spadework.tools.text.language import DEFAULT, Language, language, language_of
from spadework.tools.text.sentences import sentences
from spadework.values import Expected, Query, Question, QuestionType, Topic
from spadework.visible import one_line

#: A part of a question that contains no name needs at least this many content words to make sense
#: alone.
LEAST_WORDS = 3
#: Patterns for a sentence with its separator, and for the boundary between clauses.
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|[。！？；]|\n|\Z)\s*", re.DOTALL)
_CLAUSE = re.compile(r"(?<=[;；])")
#: The maximum number of words in a clause that is read as a wish about the form of the answer.
WISH_WORDS = 25
#: The question type and the expected kind of answer for each cue (such as "how many"). The first
#: matching cue decides.
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
#: Kinds of answers that rules can check. Steps are excluded, because any two sentences or items
#: would pass as steps.
_CHECKED: frozenset[Expected] = frozenset({"number", "date", "name", "both sides"})
#: A word of a name. "HTTP/2" is one word, and so is "Vor- und Nachteile".
_PART = r"(?:[A-Z][\w'’-]*-\s(?:and|or|und|oder)\s\w+|[A-Z0-9][\w'’.-]*\w(?:/\w+)*)"
_NAME = re.compile(rf"{_PART}(?:\s+(?:(?:of|the|de|la|von|van|and the)\s+)*{_PART})*")
_QUOTED = re.compile(r"[\"“]([^\"”]{2,80})[\"”]")
#: Punctuation that is stripped from the words of a question.
SIGNS = '?!.,;:¿¡"“”？！。，；：'
WORD = re.compile(r"[\w][\w'’.+#-]*[\w+#]|\w")


@dataclass(frozen=True)
class Asked:
    """A part of a question, with its type and the kind of answer that it expects."""

    text: str
    type: QuestionType = "general"
    expects: Expected = "open"
    compared: Compared | None = None

    @property
    def sides(self) -> tuple[str, ...]:
        """The things compared, or () if there are none."""
        return self.compared.sides if self.compared else ()


def without_wishes(question: str) -> tuple[str, list[str]]:
    """Separate a question from wishes about the answer's form ("explain each term")."""
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
    """Return the parts of a question (at least one) that call for different answers. Pronouns in
    later parts are replaced by the subject of the first part.
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
    said = {word for text in texts[1:] for word in WORD.findall(text.casefold())}
    if not spoken.points or said & (spoken.points | spoken.pronouns):
        return False
    named = [set(names_in(text)) for text in texts]
    if len(set().union(*named)) < sum(map(len, named)):
        return False
    return all(own or _tells(text, spoken) for text, own in zip(texts, named, strict=True))


def _tells(text: str, spoken: Language) -> bool:
    asks = max((cue.match(text) for cue in spoken.cues.values()), key=lambda m: m.end() if m else 0)
    words = WORD.findall(text[asks.end() if asks else 0 :].casefold())
    return len(set(words) - spoken.stop) >= LEAST_WORDS


def _expect(part: Asked) -> Asked:
    """Drop the expected kind of answer if rules cannot check it: keeping it changed no report."""
    return part if part.expects in _CHECKED else replace(part, type="general", expects="open")


def read(text: str, code: str = DEFAULT) -> Asked:
    """Parse a one-part question by cues such as "how many". `code` is the fallback language."""
    code = language_of(text) or code
    found = language(code).cues_in(text)
    among = compared(text, code) if "compare" in found else None
    for cue, (type_, expects) in _KINDS.items():
        if cue in found and (cue != "compare" or among):
            return Asked(text, type_, expects, among if cue == "compare" else None)
    return Asked(text)


def aspects(text: str, code: str) -> list[str]:
    """Split a question into texts to search for. For a comparison, each names only one side."""
    if among := compared(text, code):
        return [_without(text, among.sides, side) for side in among.sides]
    split = [part for part in language(code).joins.split(text) if part]
    found = [part for part in split if len(stems(part, code)) > 1]
    return found if found and all(part in found for part in split[1:]) else [text]


def _without(text: str, sides: Sequence[str], kept: str) -> str:
    found = rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(sides, key=len, reverse=True)))})(?!\w)"
    return re.sub(found, lambda side: side[0] if side[0] == kept else " ", text)


def names_in(text: str) -> list[str]:
    """Return the quoted phrases and names in a question, excluding titles ("Gov.") and dates."""
    known = language(language_of(text) or "en")
    named = (_of_the_name(text, match, known) for match in _NAME.finditer(text))
    return list(dict.fromkeys([*_QUOTED.findall(text), *filter(None, named)]))


def _of_the_name(text: str, match: re.Match[str], known: Language) -> str:
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
    def dates(word: str) -> bool:
        return word.rstrip(".").casefold() in known.months or known.is_weekday(word.rstrip("."))

    groups = groupby(words, key=dates)
    runs = [list(run) for dated, run in groups if not dated]
    named = [run for run in runs if any(word[0].isupper() for word in run)]
    best = max(named, key=len, default=[])
    while best and best[0][0].islower():
        best = best[1:]
    return " ".join(best)


def counted(text: str, code: str) -> str:
    """Return the words after "how many", or "" if the question asks for no count."""
    known = language(code)
    found = known.cues["count"].search(text) if "count" in known.cues else None
    asks = found and not known.unspaced and found[0].split()[0].casefold() in known.stop
    return words_behind(found, code) if asks else ""


def words_behind(found: re.Match[str] | None, code: str) -> str:
    """Return the words between a match and the next function word."""
    behind, stop = WORD.findall(found.string, found.end()) if found else (), language(code).stop
    return " ".join(takewhile(lambda word: word.casefold() not in stop, behind))


def content_words(text: str) -> str:
    """Return a question without its function words."""
    stop = language(language_of(text) or "en").stop
    return " ".join(word for word in WORD.findall(text) if word.casefold() not in stop)


def subject_of(text: str) -> str:
    """Return a question's first name or quoted phrase, or else its longest run of content words. In
    a tie, return the last run, because the subject may follow the verb.
    """
    if named := names_in(text):
        return named[0]
    stop = language(language_of(text) or "en").stop
    grouped = groupby(WORD.findall(text), key=lambda word: word.casefold() not in stop)
    found = [" ".join(run) for content, run in grouped if content]
    return max(reversed(found), key=lambda run: len(run.split()), default=text.strip(" ?"))


#: At most this many words may stand between an article and its subject. In "the harbour of Port
#: Aldermere", there are two.
MOST_BETWEEN = 5


def take_up(text: str, before: str, subject: str) -> str:
    """Replace the pronouns in a text with the subject of the earlier question `before`."""
    if not subject:
        return text
    spoken = language(language_of(before) or "en")
    article, whole = _phrase_of(before, subject, spoken)

    def name(pronoun: str) -> str:
        # The subject replaces a pronoun, so its article must match the pronoun's gender and case.
        said = article and spoken.taken_up.get(pronoun.casefold(), article)
        return f"{said} {whole}".strip()

    return _replace_pronouns(text, name)


def put_in(text: str, subject: str) -> str:
    """Replace the pronouns in a text with a subject."""
    return _replace_pronouns(text, lambda _: subject)


def _replace_pronouns(text: str, name: Callable[[str], str]) -> str:
    spoken = language(language_of(text) or "en")
    if not spoken.pronouns:
        return text
    words = "|".join(map(re.escape, spoken.pronouns))

    def replace(found: re.Match[str]) -> str:
        return found[0] if spoken.expletive.match(text, found.start()) else name(found[0])

    return re.sub(rf"\b(?:{words})\b", replace, text, flags=re.IGNORECASE)


def _belongs(word: str, spoken: Language) -> bool:
    between = f" {word} "
    return bool(spoken.belongs.fullmatch(between) or spoken.regarding.fullmatch(between))


def _phrase_of(text: str, subject: str, spoken: Language) -> tuple[str, str]:
    """Split the phrase that contains a subject, such as "the port of Oslo", after its article."""
    bare = text.strip(" ?.!")
    if spoken.last_verb.search(bare) and bare.endswith(f" {subject.split()[-1]}"):
        subject = " ".join(subject.split()[:-1]) or subject
    before, taken = text.partition(subject)[0].split(), list[str]()
    while before and len(taken) < MOST_BETWEEN:
        word = before.pop()
        belongs = _belongs(word, spoken)
        of_it = bool(before) and _belongs(before[-1], spoken)
        if word.casefold() in spoken.articles and not of_it:
            return word.casefold(), " ".join([*taken, subject])
        if word.casefold() in spoken.stop - spoken.articles and not belongs:
            break
        taken.insert(0, word)
    return "", subject


#: A question with more words than this contains pasted material.
LONG = 45
#: The maximum number of topics besides the one for the whole question, and of queries per topic.
MOST_PARTS, MOST_QUERIES = 5, 4
#: The minimum and maximum number of words in a phrase that names a topic, and the minimum number
#: of characters in a sentence to search for.
PHRASE_WORDS, LEAST_CHARS = (2, 4), 30
REQUEST_WORDS = 20
_WORD = re.compile(r"[^\W_][\w'’+#$-]*|[^\w\s]")


def brings_material(question: str) -> bool:
    """Return whether a question is long enough to contain pasted material."""
    return len(question.split()) > LONG


def topics_of(question: Question) -> list[Topic]:
    """Return a topic for the whole question, and one for each group of its sentences."""
    asked = " ".join(question.text.split())
    said = _material(
        [asked[start:end] for start, end in sentences(asked) if end - start >= LEAST_CHARS]
    )
    text = " ".join(said) or asked
    head = said[0] if said else asked
    queries = Query(text=text), Query(text=head, kind="broad")
    whole = Topic(name=one_line(head, 80), question=head, queries=queries)
    phrases = _phrases(said)
    size = max(1, -(-len(said) // MOST_PARTS))
    groups = [said[n : n + size] for n in range(0, len(said), size)]
    made = {topic.name: topic for group in groups if (topic := _topic(group, text, phrases))}
    return [whole, *(topic for name, topic in made.items() if name != whole.name)]


def _material(said: Sequence[str]) -> list[str]:
    last, spoken = len(said) - 1, language(language_of(" ".join(said)) or DEFAULT)

    def requests(n: int) -> bool:
        short = len(said[n].split()) <= REQUEST_WORDS
        return n in (0, last) and short and bool(spoken.request.match(said[n]))

    kept = [
        spoken.label.sub("", sentence)
        for n, sentence in enumerate(said)
        if "://" not in sentence and not requests(n)
    ]
    return kept or list(said)


def _topic(group: Sequence[str], whole: str, phrases: dict[str, float]) -> Topic | None:
    text = " ".join(group)
    name = max(
        (phrase for phrase in phrases if phrase in text),
        key=lambda phrase: phrases[phrase],
        default="",
    )
    if not name:
        return None
    phrases.pop(name)
    queries = [
        Query(text=whole),
        *(Query(text=sentence, kind="specific") for sentence in group),
        Query(text=name, kind="broad"),
    ]
    question = f"What is there to know about {name}?"
    return Topic(
        name=name[:1].upper() + name[1:],
        question=question,
        must_cover=(name,),
        queries=tuple(queries[:MOST_QUERIES]),
    )


def _phrases(said: Sequence[str]) -> dict[str, float]:
    runs = [run for sentence in said for run in _runs(sentence)]
    used = Counter(stem(word.lower()) for run in runs for word in run)
    least, most = PHRASE_WORDS
    fit = [run for run in runs if least <= len(run) <= most]
    return {" ".join(run): sum(used[stem(word.lower())] for word in run) / len(run) for run in fit}


def _runs(sentence: str) -> list[list[str]]:
    words = _WORD.findall(sentence)
    grouped = groupby(words, key=lambda word: word[0].isalnum() and word.lower() not in STOP_WORDS)
    return [list(run) for content, run in grouped if content]
