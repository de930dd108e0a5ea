"""Chosen blocks put together as one Markdown text, with the prefixes of their lists and
quotations.
"""

from __future__ import annotations

from collections.abc import Iterable

from spadework.tools.extract.page.blocks import Block, Item


def assemble(blocks: Iterable[Block]) -> str:
    """The Markdown of `blocks`. An item whose first block was not chosen gets its marker at the
    first that was.
    """
    parts: list[str] = []
    begun: set[Item] = set()
    before: tuple[Item, ...] = ()
    for block in blocks:
        inside = tuple(item for item in block.inside if not (item.loose and item.marker != "> "))
        fresh = [item for item in inside if item not in begun]
        if parts:
            parts.append(_gap(before, inside, fresh))
        parts.append(_prefixed(_shaped(block), inside, begun))
        begun.update(fresh)
        before = inside
    return "".join(parts) + "\n" if parts else ""


def _gap(before: tuple[Item, ...], inside: tuple[Item, ...], fresh: list[Item]) -> str:
    """One line end between two items of a list, else an empty line (inside the quotation both stand
    in).
    """
    if (
        before
        and fresh
        and inside
        and fresh[-1] is inside[-1]
        and inside[-1].marker != "> "
        and before[-1].marker != "> "
    ):
        return "\n"
    shared = ""
    for left, right in zip(before, inside, strict=False):
        if left is not right:
            break
        shared += left.indent
    return f"\n{shared.rstrip()}\n"


def _prefixed(text: str, inside: tuple[Item, ...], begun: set[Item]) -> str:
    if not inside:
        return text
    first = "".join(item.indent if item in begun else item.marker for item in inside)
    rest = "".join(item.indent for item in inside)
    lines = text.split("\n")
    return "\n".join(
        [first + lines[0], *((rest + line) if line else rest.rstrip() for line in lines[1:])]
    )


def _shaped(block: Block) -> str:
    if block.kind[0] == "h" and block.kind[1:].isdigit():
        return "#" * int(block.kind[1]) + " " + block.text.replace("\n", " ")
    if (
        block.kind == "dt"
        and "*" not in block.text
        and "`" not in block.text
        and "\n" not in block.text
    ):
        return f"**{block.text}**"
    return block.text
