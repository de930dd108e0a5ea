"""The report in a terminal: rendered Markdown with clickable links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from markdown_it.token import Token
from rich.console import Console
from rich.markdown import Markdown
from rich.style import Style
from rich.syntax import ANSISyntaxTheme
from rich.theme import Theme

from spadework.apps.terminal.screen import WIDEST
from spadework.tools.export.markdown_report import safe_url
from spadework.values import Result, Source

#: Colours readable on light and dark backgrounds: the terminal's own, and its background for code.
_THEME = Theme(
    {
        "markdown.code": "bold",
        "markdown.code_block": "none",
        "markdown.h1": "bold",
        "markdown.item.number": "bold",
    }
)
_CODE = ANSISyntaxTheme(
    {
        ("Comment",): Style(italic=True, dim=True),
        ("Keyword",): Style(bold=True),
        ("Literal", "String"): Style(color="green"),
        ("Literal", "Number"): Style(color="magenta"),
        ("Name", "Function"): Style(color="cyan"),
        ("Name", "Class"): Style(color="cyan"),
    }
)


def terminal_console() -> Console:
    """Return the console on stdout, limited to a readable width."""
    console = Console(highlight=False, markup=False, emoji=False, theme=_THEME)
    console.width = min(console.width, WIDEST)
    return console


def draw_report(result: Result, console: Console | None = None) -> None:
    """Print a report on stdout. A source from the library links to its stored page."""
    drawn = Markdown(result.report, code_theme=cast(str, _CODE))
    files = {
        safe_url(s.url): stored_file(result, s).as_uri()
        for s in result.sources
        if not s.url.startswith("http")
    }
    _lead(drawn.parsed, files)
    (console or terminal_console()).print(drawn)


def _lead(tokens: Sequence[Token], files: Mapping[str, str]) -> None:
    """Redirect links. Markdown itself would not accept a link to a file."""
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            token.attrs["href"] = files.get(address, address)
        _lead(token.children or (), files)


def stored_file(result: Result, source: Source) -> Path:
    """Return the file with the text of a source as read."""
    return Path(result.session_dir).absolute() / "pages" / f"{source.content_hash}.md"
