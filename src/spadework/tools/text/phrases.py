"""What code says in a report: in its language where the words are known, else English."""

from __future__ import annotations

from dataclasses import dataclass

from spadework.tools.text.language import DEFAULT, language


@dataclass(frozen=True)
class Phrases:
    """The fixed words of a report in the language of a code such as `de` or `de-AT`."""

    code: str = DEFAULT

    @property
    def spoken(self) -> str:
        """The code of the language that they are in."""
        own = language(self.code)
        return own.code if own.report else DEFAULT

    def __call__(self, name: str, **values: object) -> str:
        """A phrase by its name, with what is told in it."""
        return language(self.spoken).report[name].format(**values)


ENGLISH = Phrases()
