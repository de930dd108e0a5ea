"""What a group of an RTF file inherits from the one around it and gives back when it ends, and the
words that change it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

_DEEPEST_LIST = 8
#: Most bytes that stand behind a \u for programs that cannot show it.
_MOST_SKIPPED = 8
#: The outline level of a text.
_TEXT_LEVEL = 9


@dataclass(frozen=True)
class State:
    """Where text goes ("text" is the page, "unseen" nowhere), how its bytes are meant, and what
    kind of paragraph it is.
    """

    place: str = "text"
    starred: bool = False
    hidden: bool = False
    font: int | None = None
    skip: int = 1
    style: int | None = None
    level: int = 0
    depth: int = 0
    in_table: bool = False
    link: str = ""


def changed(state: State, word: str, number: int | None) -> State | None:
    """The state behind a control word; None for one that changes none."""
    match word:
        case "pard":
            return replace(state, style=None, level=0, depth=0, in_table=False)
        case "plain":
            return replace(state, hidden=False, font=None)
        case "v":
            return replace(state, hidden=number != 0)
        case "f":
            return replace(state, font=number)
        case "uc":
            return replace(state, skip=max(0, min(number or 0, _MOST_SKIPPED)))
        case "s":
            return replace(state, style=number)
        case "outlinelevel":
            return replace(
                state, level=number + 1 if number is not None and 0 <= number < _TEXT_LEVEL else 0
            )
        case "intbl":
            return replace(state, in_table=True)
        case "ilvl":
            return replace(state, depth=max(0, min(number or 0, _DEEPEST_LIST)))
    return None
