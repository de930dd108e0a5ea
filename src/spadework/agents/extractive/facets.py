"""The facets of an answer, read from facets.toml: kinds of topics, how each is asked for, what a
sentence that answers it looks like.

One table serves the extractive lead, who makes topics of it, and the extractive assessor, who
recognises them, also in a model's plan.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, cached_property
from importlib.resources import files

from spadework.values import Query, QueryKind, Topic, Value


class Facet(Value):
    """A kind of topic; the fields are explained in facets.toml."""

    key: str
    name: str
    question: str
    queries: tuple[tuple[QueryKind, str], ...]
    must_cover: tuple[str, ...] = ()
    cues: str = ""
    named: str = ""
    code: bool = False
    loose: bool = False
    names: bool = False
    cued: bool = False
    lists: bool = False

    @cached_property
    def cue(self) -> re.Pattern[str]:
        """The compiled `cues`; matches nothing when there are none."""
        return re.compile(self.cues or r"(?!)", re.IGNORECASE)

    def topic(self, subject: str, other: str = "") -> Topic:
        """The topic of this facet about a subject (and, for a comparison, the other one)."""

        def fill(text: str) -> str:
            return " ".join(text.replace("{s}", subject).replace("{o}", other).split())

        queries = tuple(Query(text=fill(text), kind=kind) for kind, text in self.queries)
        return Topic(
            name=fill(self.name),
            question=fill(self.question),
            must_cover=self.must_cover,
            queries=queries,
        )


@cache
def facets() -> dict[str, Facet]:
    """All facets by key, in the order in which topics are recognised."""
    table = tomllib.loads((files(__package__) / "facets.toml").read_text(encoding="utf-8"))
    return {key: Facet.model_validate({"key": key, **fields}) for key, fields in table.items()}


def facet_of(topic: Topic) -> Facet:
    """The facet of a topic: the one whose words its name carries, else those of its question, else
    a plain overview.
    """
    for text in (topic.name, topic.question):
        for facet in facets().values():
            if facet.named and re.search(facet.named, text, re.IGNORECASE):
                return facet
    return facets()["overview"]
