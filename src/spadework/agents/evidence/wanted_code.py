"""Whether a question is about source code: "the code to reverse a list" is, an exit code is not."""

from __future__ import annotations

import re

from spadework.tools.text.language import language, language_of

_TECHNICAL = re.compile(
    r"\b(?:commands?|scripts?|programs?|apis?|syntax|configur\w+|snippets?|functions?)\b",
    re.IGNORECASE,
)
#: "Code" with the two words before it. Source code cannot be counted: "codes" are of another kind,
#: and so is one with a number ("code P0420"), and one named by another word ("exit code").
_CODE = re.compile(
    r"(?:(?:(?P<before>[\w'’]+)\s+)?(?P<by>[\w'’-]+)\s+)?(?<![\w-])code\b(?!\s+\w*\d)",
    re.IGNORECASE,
)
#: What makes source code of it.
_SOURCE = frozenset(("source", "example", "sample"))
#: The word behind these is a verb ("I write code").
_ACTS = frozenset(("i", "you", "we", "they", "to"))


def wants_code(asked: str) -> bool:
    """Whether source code may be wanted by what is asked."""
    return bool(_TECHNICAL.search(asked)) or any(
        not _is_named(found) for found in _CODE.finditer(asked)
    )


def _is_named(found: re.Match[str]) -> bool:
    """Whether the word before "code" says what code it is: a plain word that is no verb, no
    function word, and no name ("Python code").
    """
    before, by = found["before"] or "", found["by"] or ""
    spoken = language(language_of(found.string) or "en")
    if not by or by.casefold() in spoken.stop | _SOURCE or before.casefold() in _ACTS:
        return False
    first = found.start("by") == 0
    return not spoken.request.match(found.string) if first else by[0].islower()
