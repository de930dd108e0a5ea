"""Whether a text names a subject. A name that is also a common word, such as `requests`, counts
only where it is written as a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from spadework.agents.extractive.candidates import Candidate, source

#: A subject of more words than this is a description, which no text names.
MOST_WORDS = 3


class Names:
    """The names of some subjects, and which of them are common words in the candidates at hand."""

    def __init__(self, subjects: Iterable[str], found: Sequence[Candidate]) -> None:
        self._subjects = [subject for subject in subjects if len(subject.split()) <= MOST_WORDS]
        text = "\n".join(source(candidate) for candidate in found if candidate.kind != "code")
        self._patterns = [
            _as_name(s) if _is_common(s, text) else _anyhow(s) for s in self._subjects
        ]

    def named_in(self, candidate: Candidate) -> bool:
        """Whether a candidate names one of the subjects; True when none of them has a name."""
        text = source(candidate)
        return not self._patterns or any(pattern.search(text) for pattern in self._patterns)

    def names_another(self, candidate: Candidate) -> bool:
        """Whether a candidate names one of the subjects that its page is not named after; False
        when none of them has a name.
        """
        text, title = source(candidate), candidate.shown.page.title.lower()
        named = zip(self._subjects, self._patterns, strict=True)
        return any(
            pattern.search(text) for subject, pattern in named if subject.lower() not in title
        )


def _anyhow(subject: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){_in_any_number(subject)}(?!\w)", re.IGNORECASE)


def _in_any_number(subject: str) -> str:
    """The pattern of a name in its singular and its plural (`dataclass`, `dataclasses`)."""
    one = re.sub(r"(?<=(?:ss|sh|ch|.x))es$|(?<=[^s\W\d])s$", "", subject)
    return rf"{re.escape(one)}(?:e?s)?"


def _as_name(subject: str) -> re.Pattern[str]:
    """The subject in code, with a capital, or joined by a hyphen (`requests-compatible`)."""
    word = re.escape(subject)
    capital, upper = re.escape(subject[:1].upper() + subject[1:]), re.escape(subject.upper())
    return re.compile(rf"`[^`]*(?i:{word})[^`]*`|(?<!\w)(?:{capital}|{upper})(?!\w)|{word}-\w")


def _is_common(subject: str, text: str) -> bool:
    """Whether the subject stands in plain lower-case prose more often than as a name."""
    as_name = len(_as_name(subject).findall(text))
    anyhow = len(_anyhow(subject).findall(text))
    return subject.islower() and anyhow - as_name > as_name
