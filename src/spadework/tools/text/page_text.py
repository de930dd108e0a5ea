"""Store page texts, and parse their structure lazily."""

from __future__ import annotations

import errno
import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import claim_on
from spadework.tools.stores.private_files import write_atomically
from spadework.tools.text.markdown import Block, blocks
from spadework.tools.text.passages import Path as HeadingPath, heading_at, headings, paths
from spadework.tools.text.prompt_injection import is_injection, spans_between_injections
from spadework.tools.text.sentences import sentences
from spadework.tools.text.tables import LEAST_COLUMNS, Span, Step, cells, header_of, steps_of_lists
from spadework.visible import bounded, one_line, visible

#: The sentences next to a span are sought within REACH characters of it. They are left out if
#: longer than MOST_CHARS characters.
REACH, MOST_CHARS = 800, 400
_APART = re.compile(r"^\s{0,3}(?:#{1,6}\s|(?:[-*_]\s*){3,}$)", re.MULTILINE)


class PageText(str):
    """A page's Markdown. Prompt injections never become headings or column names."""

    @cached_property
    def blocks(self) -> list[Block]:
        """All blocks in order."""
        return blocks(self)

    @cached_property
    def headings(self) -> list[HeadingPath]:
        """The start offset and path of each heading, such as "Install > Linux"."""
        return paths(found for found in headings(self) if not is_injection(found[2]))

    @cached_property
    def steps(self) -> dict[int, Step]:
        """The steps of numbered lists, keyed by text offset."""
        return steps_of_lists(self, self.blocks)

    @cached_property
    def _set_apart(self) -> list[Block]:
        return [block for block in self.blocks if block.kind in ("code", "table")]

    @cached_property
    def _headers(self) -> dict[tuple[int, int], Span | None]:
        return {}

    def heading_above(self, at: int) -> str:
        """Return the heading path at a position ("Install > Linux"), or "" if there is none."""
        return heading_at(self.headings, at)

    def header_of(self, table: Block, least: int = LEAST_COLUMNS) -> Span | None:
        """Return a table's header row (at least `least` columns, no prompt injection), or None."""
        key = table.start, least
        if key not in self._headers:
            header = header_of(self, table, least)
            names = cells(self[slice(*header)]) if header else []
            told = any(map(is_injection, [" ".join(names), *names]))
            self._headers[key] = None if told else header
        return self._headers[key]

    def columns_at(self, start: int) -> str:
        """Return the column names above the row at `start`, or ""."""
        after = bisect_right(self.blocks, start, key=lambda block: block.start)
        nearest = self.blocks[max(0, after - 1)]
        inside = nearest.kind == "table" and nearest.start < start < nearest.end
        header = self.header_of(nearest) if inside else None
        return one_line(self[slice(*header)]) if header and header[1] <= start else ""

    def neighbours(self, start: int, end: int) -> tuple[str, str]:
        """Return the adjacent sentences ("" across a heading, code, table or prompt injection)."""
        apart = self._set_apart
        inside = next((one for one in apart if one.start <= start and end <= one.end), None)
        first, last = (inside.start, inside.end) if inside else (start, end)
        since = max([0, start - REACH, *(one.end for one in apart if one.end <= first)])
        until = min([end + REACH, *(one.start for one in apart if one.start >= last)])
        around = self[since:until]
        spans = [(since + a, since + b) for a, b in spans_between_injections(around)]
        heard = next((span for span in spans if span[0] <= start and end <= span[1]), (start, end))
        before, after = _below_heading(self[heard[0] : first]), self[last : heard[1]]
        ends = [before[slice(*span)] for span in sentences(before)[-1:]]
        follows = [
            after[slice(*span)]
            for span in sentences(after)[:1]
            if not _APART.search(after[: span[0]])
        ]
        return _short(ends), _short(follows)


def _below_heading(before: str) -> str:
    apart = [found.start() for found in _APART.finditer(before)]
    return before[before.find("\n", apart[-1]) + 1 :] if apart else before


def _short(found: list[str]) -> str:
    line = " ".join("".join(found).split())
    return "" if len(line) > MOST_CHARS else line


def content_hash(text: str) -> str:
    """Return the hexadecimal SHA-256 of the text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


class PageStore:
    """Texts stored as `<content_hash>.md` in `folder`, and cached in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._texts: dict[str, PageText] = {}

    async def put(self, text: str) -> tuple[str, str]:
        """Clean a text, break overlong lines and store it. Returns its hash and the stored text."""
        text = bounded(visible(text))
        digest = content_hash(text)
        if digest not in self._texts:
            path = self.path(digest)
            if claim := claim_on(self.folder.parent.name):
                await claim.keep_file(f"{self.folder.name}/{path.name}", text.encode())
            if not path.exists():
                await on_disk(self._write, path, text.encode())
            self._texts[digest] = PageText(text)
        return digest, text

    async def get(self, digest: str) -> PageText:
        """Return the text with this hash. Raises FileNotFoundError."""
        if digest not in self._texts:
            data = await on_disk(self.path(digest).read_bytes)
            self._texts[digest] = PageText(data.decode())
        return self._texts[digest]

    async def texts(self, digests: Iterable[str]) -> dict[str, PageText]:
        """Return the texts with these hashes, keyed by hash, skipping unreadable ones."""
        found = {}
        for digest in dict.fromkeys(digests):
            with suppress(OSError, UnicodeDecodeError):
                found[digest] = await self.get(digest)
        return found

    def _write(self, path: Path, data: bytes) -> None:
        # Do not recreate a folder that was deleted during the run, because the pages stored earlier
        # would be missing.
        if self._texts and not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder was removed", str(self.folder))
        write_atomically(path, data)

    def path(self, digest: str) -> Path:
        """Return the path of a stored text."""
        return self.folder / f"{digest}.md"
