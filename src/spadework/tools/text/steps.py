"""The items of a Markdown text's numbered lists that count from 1, each with its number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from spadework.tools.text.markdown_blocks import ITEM, Block

_NUMBER = re.compile(r"(\d+)([.)])")
#: Columns by which an item stands below the one before it, and not beside it.
_BELOW = 2
#: What may stand between two items of one list without ending it.
_WITHIN = ("list", "code", "table", "quote")


class Step(NamedTuple):
    """An item's number, where the words of its list's first item begin, and where it ends."""

    number: int
    first: int
    end: int


class _Before(NamedTuple):
    """The step before: in which column it stands, and how it is marked in its text."""

    step: Step
    column: int
    marked: int
    sign: str
    block: Block


def steps_of_lists(text: str, found: Iterable[Block]) -> dict[int, Step]:
    """The steps among the blocks of a text, by where their words begin. Numbers that do not count
    up from 1 make none, unless all are 1; nor do items below a step.
    """
    steps: dict[int, Step] = {}
    before: _Before | None = None
    for block in found:
        if block.kind != "list":
            before = before if block.kind in _WITHIN else None
            continue
        items = list(ITEM.finditer(text, block.start, block.end))
        # What goes on in an item behind code or a table has no sign of its own.
        ends = [*(item.start() for item in items[1:]), block.end][: len(items)]
        for item, end in zip(items, ends, strict=True):
            column = len(item[0][: -len(item[0].lstrip())].expandtabs(4))
            if before and column >= before.column + _BELOW:
                continue
            words = text[item.end() : end]
            begin = item.end() + len(words) - len(words.lstrip())
            mark = _NUMBER.fullmatch(item[0].strip())
            before = _next(before, block, column, mark, (begin, end)) if mark else None
            if before:
                steps[begin] = before.step
    return steps


def _next(
    before: _Before | None, block: Block, column: int, mark: re.Match[str], span: tuple[int, int]
) -> _Before | None:
    """A numbered item behind a step or none; None where it is no step."""
    marked, sign = int(mark[1]), mark[2]
    number, first = 1, span[0]
    if before and before.sign == sign:
        all_ones = marked == before.marked == 1 and block == before.block
        if marked == before.step.number + 1 or all_ones:
            number, first = before.step.number + 1, before.step.first
    if number == 1 and marked != 1:
        return None
    return _Before(Step(number, first, span[1]), column, marked, sign, block)
