"""Convert Jupyter notebooks to Markdown: text, code and printed output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from spadework.errors import Unreadable
from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import Format
from spadework.tools.extract.markdown_writer import blocks, fence, not_shown
from spadework.tools.extract.text.markdown import clean_markdown

MAX_CELLS = 2_000
#: Maximum characters shown of each output of a cell.
MAX_OUTPUT = 2_000


def extract_notebook(body: bytes, url: str) -> Extracted:
    """Return a notebook as Markdown. Raises Unreadable if it is damaged."""
    try:
        book = json.loads(decode(body))
    except (ValueError, RecursionError):
        raise Unreadable("The notebook is damaged: it is not JSON.") from None
    cells = _of(book, "cells")
    if not isinstance(cells, list):
        raise Unreadable("The notebook is damaged: it has no cells.")
    language = _of(_of(_of(book, "metadata"), "language_info"), "name")
    language = language if isinstance(language, str) else ""
    shown = [part for cell in cells[:MAX_CELLS] for part in _cell(cell, language, url)]
    # Skip code blocks, because a code line that starts with # is not a heading.
    lines = [line for part in shown if not part.startswith("```") for line in part.split("\n")]
    title = next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")
    markdown = blocks([*shown, not_shown(len(cells) - MAX_CELLS, "cells")])
    return Extracted(title=title, markdown=markdown, kind="notebook")


def _cell(cell: Any, language: str, url: str) -> Iterator[str]:
    source = _text(_of(cell, "source"))
    if _of(cell, "cell_type") == "markdown":
        yield clean_markdown(source, url).markdown.strip("\n")
    elif source.strip():
        yield fence(source, language if _of(cell, "cell_type") == "code" else "")
        outputs = _of(cell, "outputs")
        for output in outputs if isinstance(outputs, list) else []:
            printed = _text(_of(output, "text")) or _text(_of(_of(output, "data"), "text/plain"))
            if printed.strip():
                yield fence(printed if len(printed) <= MAX_OUTPUT else printed[:MAX_OUTPUT] + "…")


def _of(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


FORMAT = Format(
    "notebook", extract_notebook, media_types=("application/x-ipynb+json",), endings=("ipynb",)
)
