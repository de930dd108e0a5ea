"""Plan without a model: search for the question, its parts and its names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spadework.agents.extractive.comparison import Compared, aspects_of
from spadework.agents.extractive.question_parts import (
    WORD,
    Asked,
    aspects,
    brings_material,
    content_words,
    names_in,
    parts,
    subject_of,
    topics_of,
    without_wishes,
)
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.text.language import Language, language, language_of
from spadework.tools.text.passages import is_long, shorten_question
from spadework.values import Complexity, Hit, Plan, Query, Question, Topic

MOST_TOPICS, MOST_QUERIES = 6, 4
#: The maximum number of sides of a comparison to search for separately, and of words in each side.
MOST_SIDES, SIDE_WORDS = 4, 3
MOST_WISHES = 5
#: A follow-up question with no name and at most this many terms is about the subject of the
#: previous question.
FEW_TERMS = 3


def plan(question: Question, hits: Sequence[Hit]) -> Plan:
    """Return a plan for a question. `hits` help to recognize names."""
    text, wishes = without_wishes(question.text)
    made = _plan(question.model_copy(update={"text": text or question.text}), hits)
    told = [*wishes, *without_wishes(question.wishes)[1]]
    return made.model_copy(update={"question": question.text, "wishes": tuple(told[:MOST_WISHES])})


def _plan(question: Question, hits: Sequence[Hit]) -> Plan:
    if brings_material(question.text):
        return _of_material(question)
    code = language_of(question.text) or "en"
    asked = parts(question.text)[:MOST_TOPICS]
    about = taken_from_before(question)
    topics = (*_each_side(asked, language(code)), *(_topic(part, hits, about) for part in asked))
    if len(topics) > 1:
        whole = Query(text=question.text)
        first = topics[0].model_copy(update={"queries": (whole, *topics[0].queries)[:MOST_QUERIES]})
        topics = (first, *topics[1:])
    complexity: Complexity = "simple" if len(topics) == 1 else "moderate"
    spoken = language(language_of(question.text) or "en")
    title = shorten_question(question.text) if is_long(question.text) else ""
    if title and len(topics) == 1:  # the report omits a heading that repeats its title
        topics = (topics[0].model_copy(update={"name": title}),)
    return Plan(
        question=question.text,
        title=title,
        question_type=asked[0].type,
        complexity=complexity,
        freshness="now" if spoken.latest.search(question.text) else "any",
        language=spoken.code,
        subjects=subjects(asked),
        topics=topics,
    )


def _each_side(asked: Sequence[Asked], spoken: Language) -> list[Topic]:
    """Return a topic for each side of a comparison, because a page may cover only one, or []."""
    [only, *more] = asked
    among = only.compared
    if more or among is None or not spoken.defines or not _is_bare(only, spoken):
        return []
    return [
        Topic(
            name=side,
            question=(what := spoken.defines.format(name=side)),
            expects="definition",
            queries=(Query(text=what), Query(text=side, kind="broad")),
        )
        for side in among.sides[:MOST_SIDES]
    ]


def _is_bare(part: Asked, spoken: Language) -> bool:
    longest = sorted(map(re.escape, part.sides), key=len, reverse=True)
    rest = re.sub(rf"(?<!\w)(?:{'|'.join(longest)})(?!\w)", " ", part.text)
    said = {word.casefold() for word in WORD.findall(rest)} - spoken.stop - spoken.compares
    apart = len({side.casefold() for side in part.sides}) == len(part.sides)
    return apart and not said and all(len(side.split()) <= SIDE_WORDS for side in part.sides)


def _of_material(question: Question) -> Plan:
    made = tuple(topics_of(question))
    about = tuple(topic.name for topic in made[1:])
    return Plan(
        question=question.text,
        title=shorten_question(question.text) if is_long(question.text) else "",
        question_type="list",
        complexity="complex",
        subjects=about,
        topics=made,
    )


def _topic(part: Asked, hits: Sequence[Hit], about: str = "") -> Topic:
    names = [name for name in names_in(part.text) if not _is_a_word(name, hits)]
    code = language_of(part.text) or "en"
    listed = {} if part.compared else aspects_of(part.text, language(code))
    apart = _by_side(part.compared) if part.compared else aspects(part.text, code)
    each = (text.strip(" ?.!,;") for text in (*listed.values(), *apart))
    texts = dict.fromkeys([part.text, *each, *names])
    texts.pop(part.text.strip(" ?.!,;"), None)
    asked = f"{part.text.rstrip(' ?.!')} ({about})?" if about else part.text
    queries = [Query(text=f"{about} {part.text}" if about else part.text)]
    queries += [Query(text=about, kind="broad")] if about else []
    queries += [Query(text=text, kind="broad") for text in texts if text != part.text]
    return Topic(
        name=part.text.strip(),
        question=asked,
        expects=part.expects,
        must_cover=part.sides or tuple(listed),
        queries=tuple(queries[:MOST_QUERIES]),
    )


def _by_side(among: Compared) -> list[str]:
    most = MOST_QUERIES - 1
    shared = [" ".join(among.sides[n::most]) for n in range(most)]
    return [f"{sides} {among.by}" for sides in shared if sides]


def in_context(question: Question) -> str:
    """Append the previous subject to a follow-up question. "How fast is it?" becomes "How fast is
    it (ferrolite)?". Return other questions unchanged.
    """
    about = taken_from_before(question)
    return f"{question.text.rstrip(' ?.!')} ({about})?" if about else question.text


def taken_from_before(question: Question) -> str:
    """Return the subject that a follow-up question takes from an earlier one, or "" if none."""
    if not question.earlier:
        return ""
    *before, last = question.earlier
    spoken = language(language_of(question.text) or "en")
    points = spoken.pronouns & {word.casefold() for word in WORD.findall(question.text)}
    names = names_in(question.text)
    few = len(query_terms(question.text)) <= FEW_TERMS
    if names or not (points or few or spoken.goes_on.match(question.text)):
        return ""
    own = names_in(last)
    about = own[0] if own else content_words(last)
    return about or taken_from_before(Question(text=last, earlier=tuple(before)))


def subjects(asked: Sequence[Asked]) -> tuple[str, ...]:
    """Return a question's subjects: the first part's subject if there are several parts, and the
    sides of its comparisons.

    Inferring more subjects from hits changed no report (benchmarks/README.md).
    """
    taken_up = [subject_of(asked[0].text)] if len(asked) > 1 else []
    return tuple(dict.fromkeys([*taken_up, *(side for part in asked for side in part.sides)]))


def _is_a_word(name: str, hits: Sequence[Hit]) -> bool:
    said = " ".join(hit.snippet for hit in hits).split()
    return name[1:].islower() and said.count(name.lower()) > said.count(name)
