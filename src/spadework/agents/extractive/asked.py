"""What a question asks, read from its words: its parts, the type of each, and what each is
about.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from spadework.tools.rank import STOP_WORDS
from spadework.values import QuestionType


@dataclass(frozen=True)
class Asked:
    """One part of a question. `subject` is what it is about (for howto a verb phrase), `other` the
    second of a comparison, or the one facet that is asked for.
    """

    type: QuestionType
    subject: str
    other: str = ""


_WHO = r"(?:i|we|you|one|people|somebody|someone)"
#: Patterns of a part, first match wins; the groups are the subject and, for a comparison, the
#: other.
_PATTERNS: tuple[tuple[QuestionType, str], ...] = (
    (
        "compare",
        r"(?:please )?(?:compare|contrast) (.+?) (?:and|with|to|against|vs\.?|versus) (.+)",
    ),
    (
        "compare",
        r"(?:what(?:'s| is| are) )?(?:the )?(?:main |key )?differences? between (.+?) and (.+)",
    ),
    ("compare", r"how (?:does|do|is|are) (.+?) (?:compare (?:to|with)|differ(?:ent)? from) (.+)"),
    ("compare", r"(.+?) (?:vs\.?|versus) (.+)"),
    (
        "compare",
        (
            rf"when (?:should|do|would|can) {_WHO} (?:use|choose|prefer) (.+?) (?:instead of|rather"
            r" than|over) (.+)"
        ),
    ),
    (
        "latest",
        (
            r"(?:what(?:'s| is| are) )?(?:the )?(?:latest|newest|most recent|current)(?: news|"
            r" state| status)? (?:about|on|of|in|for) (.+)"
        ),
    ),
    (
        "latest",
        r"what(?:'s| is| has)(?: been)? (?:new|happening|happened) (?:about|on|in|with|to) (.+)",
    ),
    (
        "evaluate",
        (
            r"(?:what (?:is|are) )?(?:the )?(?:pros and cons|advantages and disadvantages|strengths"
            r" and weaknesses) of (.+)"
        ),
    ),
    ("evaluate", rf"should {_WHO} (?:use|buy|choose|learn|adopt|pick) (.+)"),
    ("evaluate", r"(?:is|are) (.+?) (?:any )?(?:good|worth .*|safe|reliable|recommended|better.*)"),
    ("evaluate", r"(?:what|which)(?: is| are)? (?:the )?best (.+)"),
    (
        "howto",
        (
            rf"how (?:do|can|should|would|could|to|does|might)(?: {_WHO})?(?:"
            r" (?:best|properly|safely))? (.+)"
        ),
    ),
    ("howto", r"(?:what are )?(?:the )?(?:best way|steps|instructions) to (.+)"),
    (
        "fact",
        (
            r"((?:who|when|where|how (?:many|much|long|old|far|tall|high|big|often)|(?:in"
            r" )?(?:what|which) (?:year|date|day|city|country)) .+)"
        ),
    ),
    ("fact", r"((?:what|which) (?:is|are|was|were) (?:it|they|this|that|these|those) \S+.*)"),
    ("why", r"why (?:is|are|was|were|do|does|did|has|have|can|should) (.+)"),
    ("why", r"why (.+)"),
    ("why", r"(?:what (?:are|is|were|was) )?(?:the )?(?:causes?|reasons?) (?:of|for|behind) (.+)"),
    ("why", r"what (?:causes|caused) (.+)"),
    ("list", r"(?:list|name|enumerate)(?: (?:all|some|the))* (.+)"),
    (
        "list",
        (
            r"(?:what|which) (?:are|were) (?:the )?(?:main |different |various |major"
            r" )*((?:types|kinds|sorts|varieties|examples) of .+)"
        ),
    ),
    ("what", r"what (?:do|does|did) (.+?) (?:do|mean|offer|provide)"),
    (
        "what",
        (
            r"(?:what(?:'s| is| are| was| were)|define|explain|describe|tell me about|introduce)(?:"
            r" me| us)?(?: (?:an?|the))? (.+)"
        ),
    ),
)
#: A later part that only asks one more thing of the same subject.
_WHEN_TO_USE = re.compile(
    rf"when (?:should|do|would|can) {_WHO} (?:use|choose|need|prefer)|(?:its|the) use cases|what is"
    r" it (?:good|used) for",
    re.IGNORECASE,
)
#: Questions for one facet of their subject, by the facet.
_ONE_FACET = {
    "usecases": re.compile(
        rf"when (?:should|do|would|can) {_WHO} (?:use|choose|need|prefer) (?!it\b|them\b)(?:an?"
        r" |the )?"
        r"((?:(?! instead of | rather than | over ).)+)",
        re.IGNORECASE,
    ),
    "pitfalls": re.compile(
        r"(?:what (?:is|are) )?(?:the )?(?:most )?(?:common |typical |usual"
        r" )?(?:pitfalls|mistakes|drawbacks) (?:of|with|in|when) "
        r"((?!it\b|them\b).+)",
        re.IGNORECASE,
    ),
}
#: How a question begins that bids to tell something.
_BIDDING = re.compile(
    r"^(?:please )?(?:briefly )?(?:give|provide|discuss|outline|state|narrate|summari[sz]e)(?: me|"
    r" us)? (?=\w)",
    re.IGNORECASE,
)
#: Something that is pointed to: "this novel". Times and ways are known without being named.
_POINTS = re.compile(r"\b(?:this|these)\s+([\w'’-]+)", re.IGNORECASE)
# fmt: off
_KNOWN = frozenset((
    "year", "month", "week", "weekend", "day", "days", "morning", "evening", "century", "decade",
    "season", "time", "times", "way", "kind", "sort", "type", "case", "moment",
))
# fmt: on
_PRONOUN = re.compile(r"\b(?:it|them|they|this|that|these|those)\b", re.IGNORECASE)
#: The question word of a fact with its verb: "who invented", "when was", "how many people live in".
_ASKS = re.compile(
    r"^(?:how (?:many|much) \w+ (?:\w+ (?:in|on|at) )?|\w+ \w+ )(?:is |are |was |were )?",
    re.IGNORECASE,
)
#: "When was X founded": the participle at the end is asked about X.
_PASSIVE, _DONE = (
    re.compile(r"\w+ (?:is|are|was|were|did|does|do) ", re.IGNORECASE),
    re.compile(r"(?<=\w) [a-z]+$"),
)
_PARTS = re.compile(
    r"\?\s+|;\s+|,?\s+and\s+(?=(?:how|what|when|why|who|where|which|should)\b)|,\s+(?=(?:how|what|when|why|who|where|which)\b)",
    re.IGNORECASE,
)


def parts(question: str) -> list[Asked]:
    """The parts of a question, pronouns replaced by the subject of the part before; at least
    one.
    """
    found: list[Asked] = []
    for text in filter(
        None, (part.strip(" ?.!\n\t") for part in _PARTS.split(" ".join(question.split())))
    ):
        if found and _WHEN_TO_USE.match(text):
            found.append(Asked("evaluate", found[0].subject, "usecases"))
            continue
        if one := next(
            (
                Asked("evaluate", m.group(1), facet)
                for facet, asks in _ONE_FACET.items()
                if (m := asks.fullmatch(text))
            ),
            None,
        ):
            found.append(one)
            continue
        part = _part(text)
        if found:
            subject = with_subject(part.subject, _about(found[0]))
            # A question for a fact is its own topic's name.
            part = Asked(
                part.type,
                subject[:1].upper() + subject[1:] if part.type == "fact" else subject,
                part.other,
            )
        found.append(part)
    return found or [Asked("general", question.strip())]


def _about(part: Asked) -> str:
    """What a part is about: its subject; of a question for a fact, whose subject is the question
    itself, what follows its verb.
    """
    if part.type != "fact":
        return part.subject
    about = _ASKS.sub("", part.subject)
    return _DONE.sub("", about) if _PASSIVE.match(part.subject) else about


def left_open(question: str) -> str:
    """What a question points to without having said which it is, such as "this novel"; "" where it
    is all said.
    """
    low = question.lower()
    for match in _POINTS.finditer(question):
        what = match.group(1).lower()
        if what not in STOP_WORDS and what not in _KNOWN and what not in low[: match.start()]:
            return match.group()
    return ""


def with_subject(text: str, subject: str) -> str:
    """The text with its pronouns replaced by `subject`."""
    return _PRONOUN.sub(lambda _: subject, text) if subject else text


def _part(text: str) -> Asked:
    for kind, pattern in _PATTERNS:
        if match := re.fullmatch(pattern, text, re.IGNORECASE):
            subject, *other = (group.strip(" ,'\"") for group in match.groups())
            return Asked(kind, subject, other[0] if other else "")
    return Asked("general", _BIDDING.sub("", text))
