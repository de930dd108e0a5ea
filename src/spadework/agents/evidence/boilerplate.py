"""Boilerplate of pages, detected by repetition: blocks of non-sentences that also occur on other
pages of the host, such as menus, or that repeat the page's headings, such as a table of contents.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from spadework.agents.evidence.passages import PassageView
from spadework.tools.text.markdown import Block, blocks, plain, units
from spadework.tools.text.sentences import is_ended, is_term
from spadework.tools.web.urls import domain_of

#: Minimum pages of a host, and share of those shown, with a line of boilerplate; and the share of
#: such lines that makes a block boilerplate (benchmarks/README.md).
LEAST_PAGES, LEAST_SHARE, MOST = 2, 0.5, 0.5
#: Minimum words of a headline: links in a list of names have fewer.
HEADLINE = 4
_LINKED = re.compile(r"(?:[-*+]|\d+[.)])?\s*\[([^\]]+)\]\([^)]*\)")
_KINDS = ("paragraph", "list", "table", "quote")
_NUMBER = re.compile(r"^(?:\d+\.)*\d*\s+")


class Furniture:
    """The boilerplate lines of some passages."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self._pages = defaultdict[tuple[str, str], set[str]](set)
        self._heads = defaultdict[str, set[str]](set)
        hosts = defaultdict[str, set[str]](set)
        for passage in shown:
            url, host = passage.page.url, domain_of(passage.page.url)
            hosts[host].add(url)
            above = (passage.page.title, *passage.heading.split(" > "))
            self._heads[url].update(_unnumbered(head) for head in above)
            for block in blocks(passage.text):
                if block.kind == "heading":
                    said = passage.text[block.start : block.end].strip("# ")
                    self._heads[url].add(_unnumbered(said))
                for line in _lines(passage.text, block):
                    self._pages[host, line].add(url)
        self._hosts = {host: len(urls) for host, urls in hosts.items()}

    def holds(self, shown: PassageView, block: Block) -> bool:
        """Return whether a block of a passage is boilerplate."""
        if block.kind not in _KINDS or is_term(shown.text, block):
            return False
        if block.kind == "list" and _is_menu(shown.text, block):
            return True
        lines, told = list(_lines(shown.text, block)), 0
        url, host = shown.page.url, domain_of(shown.page.url)
        for line in lines:
            pages = len(self._pages.get((host, line), ()))
            often = pages >= LEAST_PAGES and pages >= LEAST_SHARE * self._hosts[host]
            told += not is_ended(line) and (often or _unnumbered(line) in self._heads[url])
        return told >= MOST * max(1, len(lines))


def _is_menu(text: str, block: Block) -> bool:
    """Return whether a list consists only of headlines that link to other pages."""
    items = [text[start:end].strip() for start, end in units(text, block)]
    linked = [found[1].split() for item in items if (found := _LINKED.fullmatch(item))]
    return len(linked) == len(items) and sum(map(len, linked)) >= HEADLINE * len(items)


def _lines(text: str, block: Block) -> Iterator[str]:
    """Yield list items, table rows, or the whole block."""
    if block.kind in _KINDS:
        for start, end in units(text, block):
            line = " ".join(plain(text[start:end]).split())
            if any(map(str.isalnum, line)):
                yield line


def _unnumbered(heading: str) -> str:
    return _NUMBER.sub("", " ".join(plain(heading).split())).casefold()
