"""Joining chosen blocks into Markdown, with the prefixes of lists and quotations."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.extract.page.page_blocks import Block, Item

#: Blocks kept separate.
_SET_APART = frozenset(("pre", "table"))
#: Characters that end a sentence or introduce a list, and those that may follow them.
_STOPS, _CLOSING = ".!?:;…。！？：|", '*_`)”"»'


def assemble(blocks: Sequence[Block]) -> str:
    """Return the Markdown of `blocks`. An item whose first block was dropped gets its marker at the
    first one kept. Lines that a page sets as paragraphs are joined.
    """
    going_on = _going_on(blocks)
    parts: list[str] = []
    begun: set[Item] = set()
    before: tuple[Item, ...] = ()
    for n, block in enumerate(blocks):
        inside = _inside(block)
        fresh = [item for item in inside if item not in begun]
        if parts:
            parts.append("\n" if n in going_on else _gap(before, inside, fresh))
        parts.append(_prefixed(_shaped(block), inside, begun))
        begun.update(fresh)
        before = inside
    return "".join(parts) + "\n" if parts else ""


def _inside(block: Block) -> tuple[Item, ...]:
    """Return the items and quotations around a block. Code and tables are never quoted: old pages
    use quotations to indent them.
    """
    shown = (item for item in block.inside if item.marker == "> " or not item.loose)
    return tuple(item for item in shown if item.marker != "> " or block.kind not in _SET_APART)


def _going_on(blocks: Sequence[Block]) -> set[int]:
    """Return the positions of paragraphs that continue the one before: among neighbours where most
    that follow an unfinished sentence start in lower case.
    """
    found: set[int] = set()
    run: list[int] = []
    for n in range(1, len(blocks) + 1):
        if n < len(blocks) and _adjacent(blocks[n - 1], blocks[n]):
            if blocks[n - 1].text.rstrip(_CLOSING)[-1:] not in _STOPS:
                run.append(n)
            continue
        if 2 * sum(blocks[m].text[:1].islower() for m in run) > len(run):
            found.update(run)
        run = []
    return found


def _adjacent(before: Block, block: Block) -> bool:
    """Return whether two blocks are consecutive paragraphs in the same element."""
    plain = before.kind == block.kind == "p" and not before.inside and not block.inside
    return plain and before.frame.parent is block.frame.parent


def _gap(before: tuple[Item, ...], inside: tuple[Item, ...], fresh: list[Item]) -> str:
    """Return a line end between items of a list, else a blank line within their common
    quotation.
    """
    begins = before and fresh and inside and fresh[-1] is inside[-1]
    if begins and "> " not in (inside[-1].marker, before[-1].marker):
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
    begun_with, *lines = text.split("\n")
    further = (rest + line if line else rest.rstrip() for line in lines)
    return "\n".join([first + begun_with, *further])


def _shaped(block: Block) -> str:
    if block.kind[0] == "h" and block.kind[1:].isdigit():
        return "#" * int(block.kind[1]) + " " + block.text.replace("\n", " ")
    if block.kind == "dt" and not set(block.text) & set("*`\n"):
        return f"**{block.text}**"
    return block.text
