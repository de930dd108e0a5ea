"""Convert JSON package descriptions from npm and GitHub to Markdown."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from spadework.errors import Unreadable
from spadework.tools.extract import text_reader
from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks, item, plain, write_heading
from spadework.tools.text.facts import moment

_WRITTEN = {"text/x-rst": "rst", "text/plain": "text"}


def answer_of(body: bytes, what: str) -> Mapping[str, Any]:
    """Parse a response as a JSON object. Raises Unreadable if it is not one. The error message uses
    the noun `what`.
    """
    try:
        found = json.loads(decode(body, "utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Unreadable(f"The response does not describe a {what}.")
    return found


def part(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the nested object `name`, or {}."""
    found = answer.get(name)
    return found if isinstance(found, dict) else {}


def words(answer: Mapping[str, Any], name: str) -> str:
    """Return the field `name` as one line, or "". If it is an object, use its name, type or URL."""
    found = answer.get(name)
    if isinstance(found, dict):
        found = found.get("name") or found.get("type") or found.get("url")
    return " ".join(found.split()) if isinstance(found, str) else ""


def package(
    title: str,
    summary: str,
    facts: Mapping[str, str],
    readme: Extracted | None,
    *,
    author: str = "",
    day: str = "",
) -> Extracted:
    """Return a package description as Markdown. Raises Unreadable if it describes nothing."""
    if not title or not (summary or readme):
        raise Unreadable("The package description is empty.")
    told = "\n".join(item(plain(f"{name}: {said}")) for name, said in facts.items() if said)
    text = readme.markdown.strip("\n") if readme else ""
    return Extracted(
        title=title,
        markdown=blocks([write_heading(title, 1), plain(summary), told, text]),
        author=author,
        published_at=moment(day),
        links=readme.links if readme else (),
        kind="package",
    )


def read_readme(text: object, media_type: str, url: str) -> Extracted | None:
    """Convert a README, or return None if it is empty. Unknown media types count as Markdown."""
    kind = media_type.partition(";")[0].strip().lower()
    read = text_reader(_WRITTEN.get(kind, "markdown"))
    return read(text, url) if read and isinstance(text, str) and text.strip() else None


def unpack_base64(content: object) -> bytes:
    """Decode base64 text, or return b"" for other types. Raises Unreadable for invalid text."""
    try:
        return base64.b64decode(content if isinstance(content, str) else "", validate=False)
    except (binascii.Error, ValueError):
        raise Unreadable("The README cannot be decoded.") from None
