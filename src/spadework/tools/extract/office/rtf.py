"""Convert RTF files to Markdown with striprtf."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from striprtf import striprtf

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.document_kinds import file_name
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks, item, plain, sheet_table
from spadework.tools.extract.notation import Place, joined

_to_text: Any = striprtf.rtf_to_text  # striprtf has no type hints.

#: Maximum size of a file in bytes, without its pictures. Reading a much larger file takes minutes.
MAX_BYTES = 20_000_000

_PICTURE = re.compile(rb"(?<=\\pict)[^{}]{1000,}(?=})")
#: The control word of RTF fields. It is removed, because striprtf searches for it in quadratic
#: time.
_FIELD = re.compile(r"\\field(?![a-z])")
#: A superscript or subscript, up to its end mark or group end.
_SCRIPT = re.compile(
    r"(\\(?:super|sub)(?![a-z0-9]))\s?([^{}]{0,200}?)(\\(?:nosupersub|plain)\b|(?=[{}]))"
)
#: Control characters that mark the start and end of superscripts and subscripts. They remain in the
#: text that striprtf returns.
_BEGINS, _ENDS = ("\x01", "\x02"), "\x03"
_PLACES = {"\x01": Place.LOWERED, "\x02": Place.RAISED, "\x04": Place.NOTE}
_MARKED = re.compile(r"([\x01\x02\x04][^\x03]*\x03)")
#: Groups outside the text flow: notes, comments and text boxes.
_BESIDE = re.compile(r"\\[\\{}]|[{}]|\\(?:footnote|annotation|shptxt)(?![a-z])")
_LEADS = {"\\footnote": "", "\\annotation": "Comment: ", "\\shptxt": ""}
_HIDDEN = re.compile(r"{\\v [^{}\\]*}")
_TITLE, _AUTHOR = (re.compile(rf"{{\\{name}\s+([^{{}}\\]+)}}") for name in ("title", "author"))
_MARK = re.compile(r"(?:[·•▪o\uf0b7]|(\d{1,3})[.)])\t\s*")


def extract_rtf(body: bytes, url: str) -> Extracted:
    """Return an RTF file's text and metadata. Raises Unreadable or TooLarge."""
    if not body.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("The RTF file is damaged: it does not begin with an RTF header.")
    body = _PICTURE.sub(b"", body)
    if len(body) > MAX_BYTES:
        raise TooLarge(f"The RTF file has more than {MAX_BYTES:,} bytes of text.")
    source = _HIDDEN.sub("", _FIELD.sub("", body.decode("latin-1")))
    source = _SCRIPT.sub(_marked, _with_groups_last(source))
    try:
        text = _to_text(source, errors="replace")
        text = _with_scripts(text) if _ENDS in text else text
    except (ValueError, TypeError, LookupError, OverflowError):
        raise Unreadable("The RTF file is damaged.") from None
    markdown = _markdown(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    if not markdown:
        raise Unreadable("The RTF file contains no text.")
    title, author = _TITLE.search(source), _AUTHOR.search(source)
    return Extracted(
        title=title[1].strip() if title else file_name(url),
        markdown=markdown,
        author=author[1].strip() if author else "",
        kind="rtf",
    )


def _with_groups_last(source: str) -> str:
    if not any(name in source for name in _LEADS):
        return source
    texts: list[list[str]] = [[]]
    groups: list[str] = []
    lifted: list[str] = []
    notes = at = 0
    for found in _BESIDE.finditer(source):
        texts[-1].append(source[at : found.start()])
        at, sign = found.end(), found[0]
        if sign == "{":
            groups.append("")
        elif sign == "}" and groups and (lead := groups.pop()):
            lifted.append(f"\\par {lead}{''.join(texts.pop())}}}")
        elif len(sign) > 2 and groups and not groups[-1]:
            groups[-1] = "{" + _LEADS[sign]
            if sign == "\\footnote":
                notes += 1
                texts[-1].append(f"\x04{notes}{_ENDS}")
                groups[-1] = f"{{[{notes}] "
            texts.append([])
            continue
        texts[-1].append(sign)
    rest = "".join(map("".join, texts)) + source[at:]
    end = rest.rfind("}") if lifted else len(rest)
    return rest[:end] + "".join(lifted) + rest[end:]


def _marked(found: re.Match[str]) -> str:
    begins = _BEGINS["super" in found[1]]
    return f"{found[1]} {begins}{found[2]}{_ENDS}{found[3]}"


def _with_scripts(text: str) -> str:
    pieces = []
    for part in _MARKED.split(text):
        place = _PLACES.get(part[:1], Place.LEVEL)
        pieces.append((part.strip("".join(_PLACES) + _ENDS), place))
    return joined(pieces)


def _markdown(text: str) -> str:
    """Return striprtf's lines as Markdown. A line that ends with `|` is a table row."""
    parts = []
    lines = (line for line in text.split("\n") if line.strip())
    for kind, group in groupby(lines, key=_kind):
        found = list(group)
        if kind == "row":
            parts.append(sheet_table(line.rstrip().removesuffix("|").split("|") for line in found))
        elif kind == "item":
            marks = [(mark, line[mark.end() :]) for line in found if (mark := _MARK.match(line))]
            items = (item(plain(said), f"{mark[1]}." if mark[1] else "-") for mark, said in marks)
            parts.append("\n".join(items))
        else:
            parts += [plain(" ".join(line.split())) for line in found]
    return blocks(parts)


def _kind(line: str) -> str:
    if line.rstrip().endswith("|"):
        return "row"
    return "item" if _MARK.match(line) else "text"
