"""Follow names from pages to answer questions such as "Where was the director of X born?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from spadework.agents.evidence.passages import PassageView
from spadework.agents.extractive.question_parts import brings_material, names_in
from spadework.tools.ranking.selection import bare
from spadework.tools.text.facts import stems
from spadework.tools.text.language import language, spoken
from spadework.tools.text.sentences import sentences
from spadework.values import Evidence, Recommendation, Topic

#: The maximum number of names to follow, per page and in total.
MOST_EACH, MOST_HOPS = 2, 4
#: The bonus to a name's score for each relation word (such as "director") in its sentence, and the
#: bonus for a "by" or "of" before the name.
ROLE, LINK = 2.0, 1.0
#: The score bonus for a name with several words, and the minimum number of characters in a name.
MANY, LEAST_CHARS = 0.5, 3
#: The weight of each sentence in a passage, relative to the sentence before. A name's score is
#: multiplied by the weight of its sentence.
LATER = 0.9

_NAME = re.compile(
    r"(?:[A-ZÀ-Þ][\w'’.-]*\w|[A-Z]\.)(?:\s+(?:(?:of|the|de|la|von|van|der|bin|al)\s+)*(?:[A-ZÀ-Þ][\w'’-]*\w|[A-Z]\.))*"
)


def asks_for_a_relation(question: str) -> bool:
    """Return whether a question identifies something by a relation ("the director of X")."""
    relation = language(spoken(question)).relation
    return bool(names_in(question) and relation.search(question)) and not brings_material(question)


@dataclass(frozen=True)
class Hop:
    """A name to search for, and the sentence that mentions it."""

    name: str
    shown: PassageView
    start: int
    end: int
    score: float


def multi_hops(question: str, shown: Sequence[PassageView]) -> list[Hop]:
    """Return the names to search for next, from pages whose titles are in the question. The best
    name of each page comes first, then the second-best of each.
    """
    asked, named = stems(question), [stems(name) for name in names_in(question)]
    found: dict[str, dict[str, Hop]] = {}
    other: set[str] = set()
    for passage in shown:
        title = stems(bare(passage.page.title))
        if title and title <= asked:
            # The page may state the inverse relation, such as "son" if the question asks for the
            # father.
            told, sides = asked - title, language(spoken(question)).other_side
            roles = told | {stem for word in told for stem in sides.get(word, ())}
            _collect(passage, roles, question, found.setdefault(passage.page.url, {}))
            other |= set() if title in named else {passage.page.url}
    pages = sorted(found, key=lambda url: url in other)
    ranked = [sorted(found[url].values(), key=lambda hop: -hop.score)[:MOST_EACH] for url in pages]
    turns = [best[n] for n in range(MOST_EACH) for best in ranked if n < len(best)]
    return list({hop.name: hop for hop in reversed(turns)}.values())[::-1][:MOST_HOPS]


@dataclass(frozen=True)
class Trail:
    """The names (hops) to follow for a question.
    - `ahead`: hops to search for next.
    - `via`: hops already searched for.
    - `titles`: titles of shown pages, if the evidence contains these titles.
    - `further`: the `titles` that are not in the question.
    """

    ahead: tuple[Hop, ...] = ()
    via: tuple[Hop, ...] = ()
    titles: tuple[str, ...] = ()
    further: frozenset[str] = frozenset()


def trail(question: str, shown: Sequence[PassageView], known: Sequence[Evidence]) -> Trail:
    """Return the names to follow for a question that identifies something by a relation ("the
    director of X"). For other questions, return an empty trail.
    """
    asked = stems(question)
    titled = any(asked <= stems(passage.page.title) for passage in shown)
    if titled or not asks_for_a_relation(question):
        return Trail()
    found = multi_hops(question, shown)
    if not known:
        return Trail(ahead=tuple(found))
    said = [stems(evidence.quote) for evidence in known]
    names = dict.fromkeys(bare(passage.page.title) for passage in shown)
    titles = tuple(
        name for name in names if (own := stems(name)) and any(own <= quote for quote in said)
    )
    return Trail(
        via=tuple(b for b in found if any(stems(b.name) <= stems(title) for title in titles)),
        titles=titles,
        further=frozenset(title for title in titles if not stems(title) <= asked),
    )


def led_on(topic: Topic, ahead: Sequence[Hop]) -> list[Recommendation]:
    """Return a recommended search for each hop in `ahead`."""
    purpose = f"“{topic.name}” led to it."
    return [
        Recommendation(query=hop.name, purpose=purpose, priority="high", led_to=True)
        for hop in ahead
    ]


def _collect(passage: PassageView, roles: set[str], question: str, found: dict[str, Hop]) -> None:
    weight, tongue = 1.0, language(spoken(question))
    for start, end in sentences(passage.text):
        sentence = passage.text[start:end]
        shared = ROLE * len(stems(sentence) & roles)
        for match in _NAME.finditer(sentence):
            name = match.group()
            if " " not in name and tongue.demonym.match(sentence, match.start()):
                continue
            if (
                name.casefold() in question.casefold()
                or stems(name) <= stems(question)
                or name.partition(" ")[0].casefold() in tongue.months
                or len(name) < LEAST_CHARS
            ):
                continue
            linked = LINK if tongue.linked.search(sentence[: match.start()]) else 0.0
            score = weight * (1 + shared + linked + (MANY if " " in name else 0.0))
            if name not in found or found[name].score < score:
                found[name] = Hop(name, passage, passage.start + start, passage.start + end, score)
        weight *= LATER
