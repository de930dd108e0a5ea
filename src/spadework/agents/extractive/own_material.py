"""Questions with their own material, such as an abstract: its subjects become topics, a few
sentences each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from spadework.tools.ranking.relevance import STOP_WORDS
from spadework.tools.text.facts import stem
from spadework.tools.text.language import DEFAULT, language, language_of
from spadework.tools.text.sentences import sentences
from spadework.values import Query, Question, Topic

#: A longer question includes material.
LONG = 45
#: Maximum topics from material, without the whole, and queries per topic.
MOST_PARTS, MOST_QUERIES = 5, 4
#: Words of a phrase that can name a topic, and minimum characters of a searched sentence.
PHRASE_WORDS, LEAST_CHARS = (2, 4), 30
#: Maximum words of a request, which is not part of the material.
REQUEST_WORDS = 20
_WORD = re.compile(r"[^\W_][\w'’+#$-]*|[^\w\s]")


def brings_material(question: str) -> bool:
    """Return whether a question is too long to be searched unchanged."""
    return len(question.split()) > LONG


def topics_of(question: Question) -> list[Topic]:
    """Return one topic for the whole, and one per group of sentences; each is also searched with
    the whole, which keeps it relevant.
    """
    asked = " ".join(question.text.split())
    said = _material(
        [asked[start:end] for start, end in sentences(asked) if end - start >= LEAST_CHARS]
    )
    text = " ".join(said) or asked
    head = said[0] if said else asked
    whole = Topic(
        name=_short(head), question=head, queries=(Query(text=text), Query(text=head, kind="broad"))
    )
    phrases = _phrases(said)
    size = max(1, -(-len(said) // MOST_PARTS))
    groups = [said[n : n + size] for n in range(0, len(said), size)]
    made = {topic.name: topic for group in groups if (topic := _topic(group, text, phrases))}
    return [whole, *(topic for name, topic in made.items() if name != whole.name)]


def _material(said: Sequence[str]) -> list[str]:
    """Return the sentences with content: not the request around them, nor where something is
    available.
    """
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
    """Return the topic of a group of sentences, named by its best unused phrase; None if there is
    none.
    """
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
    """Return the content-word runs that can name a topic, scored by the frequency of their
    words.
    """
    runs = [run for sentence in said for run in _runs(sentence)]
    used = Counter(stem(word.lower()) for run in runs for word in run)
    least, most = PHRASE_WORDS
    fit = [run for run in runs if least <= len(run) <= most]
    return {" ".join(run): sum(used[stem(word.lower())] for word in run) / len(run) for run in fit}


def _runs(sentence: str) -> list[list[str]]:
    words = _WORD.findall(sentence)
    grouped = groupby(words, key=lambda word: word[0].isalnum() and word.lower() not in STOP_WORDS)
    return [list(run) for content, run in grouped if content]


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80].rsplit(" ", 1)[0] + " …"
