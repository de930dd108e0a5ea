"""The lead without a model: topics from the type of the question, and from what a first broad
search brings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from spadework.agents.extractive.asked import Asked, parts, with_subject
from spadework.agents.extractive.facets import facets
from spadework.agents.extractive.material import brings_material, topics_of
from spadework.tools.rank import query_terms
from spadework.tools.select import bare
from spadework.values import (
    Complexity,
    Freshness,
    Hit,
    Plan,
    Query,
    QueryKind,
    Question,
    QuestionType,
    Topic,
)

#: The facets that each type of question requires (S3).
REQUIRED: dict[QuestionType, tuple[str, ...]] = {
    "what": ("definition", "features", "usecases", "examples"),
    "howto": ("tools", "steps", "examples", "pitfalls"),
    "why": ("causes", "mechanism"),
    "fact": ("fact",),
    "latest": ("timeline", "current", "positions"),
    "list": ("items", "overview"),
    "evaluate": ("strengths", "pitfalls", "alternatives", "usecases"),
    "general": ("overview",),
}
MOST_TOPICS, MOST_QUERIES = 6, 4
#: Topics of a plain question that come from the key phrases of the first search, and the different
#: titles that must share such a phrase.
MOST_PHRASES, LEAST_TITLES = 3, 3

#: A follow-up with no more terms than this and no name in it is about what the question before was
#: about.
FEW_TERMS = 3

_TO_USE = re.compile(
    r"(?:use|install|set up(?! an? | the | my )|start with|get started with|work with) (.+?)(?:"
    r" (?:to|for) [a-z]+(?:ing\b.*| .*))?",
    re.IGNORECASE,
)
#: Types of questions whose subject is a whole sentence: what they are about are the names in it.
_BY_NAME = ("fact", "general", "why", "list", "latest")
_NAME = re.compile(
    r"[A-Z0-9][\w'’.-]*[\w](?:\s+(?:(?:of|the|de|la|von|van|and the)\s+)*[A-Z0-9][\w'’.-]*\w)*"
)
_WORD = re.compile(r"[^\W\d_][\w'-]+")


def plan(question: Question, hits: Sequence[Hit]) -> Plan:
    """The plan of a question. `hits` of a first broad search give a plain question its topics, and
    every topic its synonyms.
    """
    if brings_material(question.text):
        made = tuple(topics_of(question))
        about = tuple(topic.name for topic in made[1:])
        return Plan(
            question=question.text,
            question_type="list",
            complexity="complex",
            subjects=about,
            topics=made,
        )
    asked = parts(in_context(question))
    topics = {topic.question: topic for part in asked for topic in _topics(part, hits)}
    # What several parts ask for ends with the examples: how something is used is told before.
    if len(asked) > 1:
        topics = dict(
            sorted(topics.items(), key=lambda item: item[1].name.startswith("Examples of "))
        )
    kept = tuple(
        _with_original(topic, in_context(question)) if n == 0 else topic
        for n, topic in enumerate(topics.values())
    )[:MOST_TOPICS]
    complexity: Complexity = "simple" if len(kept) == 1 else "moderate"
    freshness: Freshness = "now" if any(part.type == "latest" for part in asked) else "any"
    return Plan(
        question=question.text,
        question_type=asked[0].type,
        complexity=complexity,
        freshness=freshness,
        subjects=subjects(asked),
        topics=kept,
    )


def in_context(question: Question) -> str:
    """The question with what it takes from the one before: "How fast is it?" after "What is X?"
    asks how fast X is.
    """
    if not question.earlier:
        return question.text
    about = " and ".join(subjects(parts(question.earlier[-1])))
    replaced = with_subject(question.text, about)
    alone = (
        replaced == question.text
        and not names_in(question.text)
        and len(query_terms(question.text)) <= FEW_TERMS
    )
    return f"{question.text.rstrip(' ?')} ({about})?" if alone and about else replaced


def subjects(asked: Sequence[Asked]) -> tuple[str, ...]:
    """What the question is about: the subjects of its parts, each once; of a plain question or a
    fact the names in it.
    """
    found: list[str] = []
    for part in asked:
        if part.type in _BY_NAME and (names := names_in(part.subject)):
            found += names
        else:
            found += [part.subject, part.other] if part.type == "compare" else [part.subject]
    return tuple(
        dict.fromkeys(
            m.group(1) if (m := _TO_USE.fullmatch(name)) else name for name in found if name
        )
    )


def names_in(text: str) -> list[str]:
    """The names in a question: runs of capitalised words after its first, which is often a question
    word, and what stands in quotes.
    """
    quoted = re.findall(r"[\"“]([^\"”]{2,80})[\"”]", text)
    return list(
        dict.fromkeys(
            [*quoted, *(match.group() for match in _NAME.finditer(text) if match.start() > 0)]
        )
    )


def _topics(part: Asked, hits: Sequence[Hit]) -> list[Topic]:
    table = facets()
    if part.type == "compare":
        sides = [table["subject"].topic(part.subject), table["subject"].topic(part.other)]
        both = f"{part.subject} and {part.other}"
        return [
            *sides,
            table["differences"].topic(part.subject, part.other),
            table["usecases"].topic(both),
        ]
    if part.type == "evaluate" and part.other:
        return [table[part.other].topic(part.subject)]
    if part.type == "howto" and (use := _TO_USE.fullmatch(part.subject)):
        return [table[key].topic(use.group(1)) for key in ("install", "use", "examples")]
    topics = [
        _also_by_name(table[key].topic(part.subject), part, hits) for key in REQUIRED[part.type]
    ]
    if part.type == "howto":  # "examples of" does not go with a verb
        topics = [
            topic.model_copy(update={"name": topic.name.partition(" of ")[0]}) for topic in topics
        ]
    return topics + (_from_phrases(part.subject, hits) if part.type == "general" else [])


def _also_by_name(topic: Topic, part: Asked, hits: Sequence[Hit]) -> Topic:
    """A topic that names somebody or something is searched by each name, too: that finds their own
    pages.
    """
    if part.type not in _BY_NAME:
        return topic
    names = [name for name in names_in(part.subject) if not _is_a_word(name, hits)]
    named = tuple(Query(text=name, kind="broad") for name in names[: MOST_QUERIES - 1])
    return topic.model_copy(
        update={"queries": (*topic.queries[:1], *named, *topic.queries[1:])[:MOST_QUERIES]}
    )


def _is_a_word(name: str, hits: Sequence[Hit]) -> bool:
    """Whether a name of one word is a word that only this question writes large: most of the hits
    write it small.
    """
    if not (name.isalpha() and name[1:].islower()):
        return False
    said = [word for hit in hits for word in _WORD.findall(hit.snippet)]
    return said.count(name.lower()) > said.count(name)


def _with_original(topic: Topic, question: str) -> Topic:
    """The first topic asks the question as it was put, too."""
    own = tuple(q for q in topic.queries if q.text.lower() != question.strip(" ?").lower())
    return topic.model_copy(
        update={
            "queries": (
                Query(text=question),
                *(q.model_copy(update={"kind": _kind(q)}) for q in own),
            )[:MOST_QUERIES]
        }
    )


def _kind(query: Query) -> QueryKind:
    return "paraphrase" if query.kind == "original" else query.kind


def _from_phrases(subject: str, hits: Sequence[Hit]) -> list[Topic]:
    """Topics from the phrases that several titles and snippets of the first search share beside the
    subject's own words.
    """
    own = set(query_terms(subject))
    # The parts of one document bear one title, and are one voice.
    titles: dict[str, set[str]] = {}
    for hit in hits:
        for phrase in _phrases(f"{bare(hit.title)}. {hit.snippet}", own):
            titles.setdefault(phrase, set()).add(hit.title.casefold())
    shared = sorted(
        (phrase for phrase, of in titles.items() if len(of) >= LEAST_TITLES),
        key=lambda phrase: (-len(titles[phrase]), phrase),
    )
    phrases = shared[:MOST_PHRASES]
    return [
        Topic(
            name=phrase.capitalize(),
            question=f"What is there to know about {phrase} with respect to {subject}?",
            must_cover=(phrase,),
            queries=(Query(text=f"{subject} {phrase}"), Query(text=phrase, kind="broad")),
        )
        for phrase in phrases
    ]


def _phrases(text: str, own: set[str]) -> list[str]:
    """Pairs of neighbouring content words of a text that are not the subject's own."""
    words = [word.lower() for word in _WORD.findall(text)]
    content = set(query_terms(text)) - own
    return [f"{a} {b}" for a, b in pairwise(words) if a in content and b in content and a != b]
