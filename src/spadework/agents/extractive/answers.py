"""What an answer must hold, by how its question begins: a number for "how many", a year for "when",
a name for "who".
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spadework.tools.facts import OTHER_WORDS, names, stems

Holds = Callable[[str], bool]

_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|dozens?|hundreds?|thousands?|millions?|billions?)\b"
)
_PATTERNS = (
    (
        re.compile(
            r"how (?:many|much|long|old|far|tall|high|big|deep|wide|fast|often|heavy)\b",
            re.IGNORECASE,
        ),
        re.compile(_NUMBER, re.IGNORECASE),
    ),
    (
        re.compile(r"(?:when|(?:in )?(?:what|which) year)\b", re.IGNORECASE),
        re.compile(r"\b\d{3,4}\b|\d(?:st|nd|rd|th) century", re.IGNORECASE),
    ),
)
_WHO = re.compile(r"(?:who|whom|by whom)\b", re.IGNORECASE)
#: Whose something is: "by Ada Brant", "Ada Brant's".
_WHOSE = re.compile(r"\bby (?:the )?([A-ZÀ-Þ][\w.-]*)|[A-ZÀ-Þ][\w.-]* ([A-ZÀ-Þ][\w.-]*)['’]s\b")
#: Names in code are no people.
_CODE = re.compile(r"`[^`]*`|\b[a-z_]+\([^)]*\)|\b[A-Z][a-z]+[A-Z]\w*")
#: A name at the start of a sentence: two words with capitals, the first of them no article.
_OPENS = re.compile(
    r"(?!(?:The|An?|This|That|In|On|At|For|It|As)\s)([A-ZÀ-Þ][\w'’.-]+(?:\s+[A-ZÀ-Þ][\w'’.-]*)+)"
)


def answer_to(question: str, subject: set[str]) -> Holds | None:
    """Whether a text holds what the question asks for; None when any text may. `subject` are the
    stems of what it asks about.
    """
    for asked, answer in _PATTERNS:
        if asked.match(question):
            return lambda text: answer.search(text) is not None
    if not _WHO.match(question):
        return None
    done = stems(question) - subject - {"who", "whom"}
    done |= {other for word in done for other in OTHER_WORDS.get(word, ())}
    known = {name.casefold() for name in names(f"- {question}")} | subject
    return lambda text: _tells_who(text, done, known)


def _tells_who(source: str, done: set[str], known: set[str]) -> bool:
    """Whether a text names somebody beside what the question names, as who did what was asked, or
    by whom it was done.
    """
    text = _CODE.sub("", source)
    opens = _OPENS.match(text)
    named = names(text) | ({word.casefold() for word in opens.group(1).split()} if opens else set())
    fresh = {name for name in named if name not in known and not stems(name) <= known}
    owners = {(by or own).casefold() for by, own in _WHOSE.findall(text)}
    first, _, rest = text.partition(" ")
    # Who begins with a verb tells the reader what to do.
    told = stems(text if first.endswith(":") else rest)
    return bool(fresh) and (not done or bool(done & told) or bool(owners & fresh))
