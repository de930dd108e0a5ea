"""Detection of questions about source code: "the code to reverse a list" is one, an exit code is
not.
"""

from __future__ import annotations

import re

from spadework.tools.text.language import language, language_of

_TECHNICAL = re.compile(
    r"\b(?:commands?|scripts?|programs?|apis?|syntax|configur\w+|snippets?|functions?)\b",
    re.IGNORECASE,
)
#: "Code" with the two words before it. Source code is uncountable: "codes", numbered codes ("code
#: P0420") and compounds ("exit code") are something else.
_CODE = re.compile(
    r"(?:(?:(?P<before>[\w'’]+)\s+)?(?P<by>[\w'’-]+)\s+)?(?<![\w-])code\b(?!\s+\w*\d)",
    re.IGNORECASE,
)
#: Words that make it source code.
_SOURCE = frozenset(("source", "example", "sample"))
#: The word after these is a verb ("I write code").
_ACTS = frozenset(("i", "you", "we", "they", "to"))


def wants_code(asked: str) -> bool:
    """Return whether a question may want source code."""
    return bool(_TECHNICAL.search(asked)) or any(
        not _is_named(found) for found in _CODE.finditer(asked)
    )


def _is_named(found: re.Match[str]) -> bool:
    """Return whether the word before "code" specifies another kind of code: a plain word that is no
    verb, function word or name ("Python code").
    """
    before, by = found["before"] or "", found["by"] or ""
    spoken = language(language_of(found.string) or "en")
    if not by or by.casefold() in spoken.stop | _SOURCE or before.casefold() in _ACTS:
        return False
    first = found.start("by") == 0
    return not spoken.request.match(found.string) if first else by[0].islower()
