"""Read a repository's README from GitHub's REST API."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urlsplit

from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import Format
from spadework.tools.extract.formats.described import (
    answer_of,
    package,
    read_readme,
    unpack_base64,
    words,
)

_TYPES = {".rst": "text/x-rst", ".txt": "text/plain", "": "text/plain"}


def extract_readme(body: bytes, url: str) -> Extracted:
    """Return the README. Raises Unreadable if there is none."""
    answer = answer_of(body, "README")
    kind = _TYPES.get(PurePosixPath(words(answer, "name")).suffix.lower(), "text/markdown")
    text = decode(unpack_base64(answer.get("content")))
    name = urlsplit(url).path.strip("/")
    found = read_readme(text, kind, f"{url.rstrip('/')}/blob/HEAD/{words(answer, 'path')}")
    return package(name, "", {}, found)


FORMAT = Format("readme", extract_readme, media_types=("application/vnd.github.readme+json",))
