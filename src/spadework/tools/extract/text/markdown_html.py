"""HTML inside Markdown (logos, `<details>`, `<p align=center>`) as plain Markdown text."""

from __future__ import annotations

import html
import re

from spadework.tools.extract.markdown_writer import blocks, fence, item, plain, write_heading
from spadework.tools.extract.notation import untagged

_TAGS = (
    "a abbr address article aside b big blockquote body br button caption center cite code col"
    " colgroup dd del details dfn div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6"
    " head header hr html i iframe img input ins kbd label li link main mark meta nav object ol p"
    " picture pre q s samp script section small source span strike strong style sub summary sup svg"
    " table tbody td tfoot th thead title tr tt u ul var video wbr"
)
_KNOWN = re.compile(
    rf"</?(?:{'|'.join(_TAGS.split())})(?=[\s/>])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>", re.I
)
# No pattern seeks a tag's end past another tag, which would take quadratic time.
_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|svg|head)\b.*?(?:</\1\s*>|\Z)|<!doctype[^<>]*>"
    r"|<\?(?:[^<?]++|<(?!\?)|\?(?!>))*+\?>",
    re.I | re.S,
)
_WHOLE = re.compile(r"<(?:pre|h(?P<level>[1-6]))\b[^<>]*>", re.I)
# Its end or the start of the next. A separate pattern, as one with the start would take much more
# memory.
_CODE_END = re.compile(r"</pre\s*>|<pre\b", re.I)
_TITLE_END = re.compile(r"</h[1-6]\s*>|<h[1-6]\b", re.I)
_ITEM = re.compile(r"<li\b[^<>]*>", re.I)
_BREAK = re.compile(r"<br\b[^<>]*>|</tr\s*>", re.I)
_CELL = re.compile(r"</t[dh]\s*>\s*<t[dh]\b[^<>]*>", re.I)
_BLOCK = re.compile(
    r"</?(?:p|div|ul|ol|table|details|summary|section|article|center|blockquote|figure|dl|dt|dd)"
    r"\b[^<>]*>",
    re.I,
)


def is_known_tag(tag: str) -> bool:
    """Return whether it is HTML's tag, comment or declaration, not a placeholder like `<name>`."""
    return bool(_KNOWN.fullmatch(tag)) or tag.startswith(("<!", "<?"))


def without_tags(text: str) -> str:
    """Return text without HTML tags; other words in angle brackets stay."""
    return html.unescape(_KNOWN.sub("", text))


def html_to_text(source: str) -> str:
    """Return HTML as Markdown; headings, items and `<pre>` keep their form, images are dropped."""
    parts: list[str] = []
    position = at = 0
    source = untagged(_HIDDEN.sub("", source))
    while begins := _WHOLE.search(source, at):
        at = begins.end()
        level = begins["level"]
        ends = (_TITLE_END if level else _CODE_END).search(source, at)
        if not ends or not ends[0].startswith("</"):
            continue
        parts += _paragraphs(source[position : begins.start()])
        inside = without_tags(source[at : ends.start()])
        parts.append(write_heading(inside, int(level)) if level else fence(inside.strip("\n")))
        position = at = ends.end()
    return blocks([*parts, *_paragraphs(source[position:])])


def _paragraphs(source: str) -> list[str]:
    marked = _BLOCK.sub("\n\n", _CELL.sub(" | ", _BREAK.sub("\n", _ITEM.sub("\n\n\x00", source))))
    found = []
    for part in re.split(r"\n\s*\n", without_tags(marked)):
        lines = [line for line in part.replace("\x00", "").split("\n") if line.strip(" \t")]
        words = "\n".join(" ".join(line.split()) for line in lines)
        if re.search(r"\w", words):
            found.append(item(plain(words)) if "\x00" in part else plain(words))
    return found
