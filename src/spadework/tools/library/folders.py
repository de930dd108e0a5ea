"""The readable documents in a user's folders."""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from spadework.errors import SettingsError

MEDIA_TYPES = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".mdx": "text/markdown",
    ".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain", ".text": "text/plain", ".rst": "text/x-rst", ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".doc": "application/msword", ".xls": "application/vnd.ms-excel",
    ".ppt": "application/vnd.ms-powerpoint",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".rtf": "application/rtf", ".epub": "application/epub+zip",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".csv": "text/csv", ".tsv": "text/tab-separated-values",
    ".ipynb": "application/x-ipynb+json", ".eml": "message/rfc822",
}  # fmt: skip
#: File kinds for filters (`kind:pdf`): one extension per media type, the first above.
KINDS = {
    suffix: next(name for name, same in MEDIA_TYPES.items() if same == kind)[1:]
    for suffix, kind in MEDIA_TYPES.items()
}
#: Folders without documents, or with sources of the HTML pages next to them (Sphinx).
_LEFT_OUT = frozenset(("node_modules", "__pycache__", "__macosx", "_sources"))
#: Extensions of HTML pages and of their possible sources; of one name, the page is read.
_PAGES, _MADE_FROM = (".html", ".htm", ".xhtml"), (".txt", ".text", ".rst", ".md", ".markdown")
#: File names without extension that are text by convention.
_BARE = re.compile(r"readme|install|news|todo|faq|howto|manual", re.I)
#: Names that need no escaping in a URL.
_PLAIN = re.compile(r"[\w.~-]*", re.ASCII).fullmatch
_SIGNS = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class File:
    """A file to read; `mtime` is in nanoseconds, `kind` one of `KINDS`."""

    path: str
    url: str
    kind: str
    size: int
    mtime: int

    @property
    def media_type(self) -> str:
        """The media type."""
        return MEDIA_TYPES[f".{self.kind}"]


def collections(paths: Sequence[Path]) -> dict[str, Path]:
    """Return a unique name for every folder (for a file, its folder's), in the order given; folders
    of the same name get their parents' names too.

    Raises SettingsError, naming the path, if one is missing or unreadable.
    """
    found: dict[str, Path] = {}
    given = dict.fromkeys(Path(each).expanduser().absolute() for each in paths)
    for path in given:
        _check(path)
    folders = {path: path if path.is_dir() else path.parent for path in given}
    alike = Counter(_name(folder) for folder in set(folders.values()))
    for path, folder in folders.items():
        name = _name(folder)
        if alike[name] > 1 and folder.parent.name:
            name = _name(folder.parent) + f"-{name}"
        number = 2
        unique = name
        while unique in found:
            unique = f"{name}-{number}"
            number += 1
        found[unique] = path
    return found


def _name(folder: Path) -> str:
    return _SIGNS.sub("-", folder.name or "library").strip("-.").lower() or "library"


def _check(path: Path) -> None:
    if not path.exists():
        raise SettingsError(
            f"The library path {path} does not exist.", hint="Name an existing file or folder."
        )
    if not os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK):
        raise SettingsError(
            f"The library path {path} cannot be read: permission denied.",
            hint="Give yourself the right to read it.",
        )


def files(paths: Sequence[Path]) -> Iterator[File]:
    """Yield every document file of the paths, in an order that depends on names alone.

    Skips hidden files and folders, links leading outside, texts next to an HTML page of the same
    name, and other files. Raises like `collections`.
    """
    return _files(collections(paths))


def _files(named: dict[str, Path]) -> Iterator[File]:
    for name, path in named.items():
        top = f"library://{quote(name)}/"
        if path.is_dir():
            yield from _walk(str(path), top, path.resolve())
        elif file := _file(path.name, str(path), top + _quoted(path.name), path.stat()):
            yield file


def _walk(folder: str, url: str, root: Path) -> Iterator[File]:
    """Yield the files of a folder. Written for speed: a million may be visited on every start."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (PermissionError, FileNotFoundError):
        return  # a folder inside the library that is unreadable or gone
    pages = {_stem(e.name) for e in entries if e.name.lower().endswith(_PAGES)}
    for entry in entries:
        name = entry.name
        if _is_left_out(name, pages):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, f"{url}{_quoted(name)}/", root)
        elif not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root):
            try:
                if file := _file(name, entry.path, url + _quoted(name), entry.stat()):
                    yield file
            except OSError:
                continue  # gone since the folder was listed, or a broken or circular link


def _is_left_out(name: str, pages: Collection[str]) -> bool:
    """Return whether a file is never read; `pages` are the folder's HTML pages without
    extension.
    """
    made_from = bool(pages) and name.lower().endswith(_MADE_FROM)
    return name.startswith(".") or name.lower() in _LEFT_OUT or (made_from and _stem(name) in pages)


def _quoted(name: str) -> str:
    """Return a name as in a URL: by its bytes, which may not be UTF-8."""
    return name if _PLAIN(name) else quote(os.fsencode(name))


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _file(name: str, path: str, url: str, state: os.stat_result) -> File | None:
    _, dot, suffix = name.rpartition(".")
    kind = KINDS.get(f".{suffix.lower()}", "") if dot else "txt" if _BARE.match(name) else ""
    if not kind or not stat.S_ISREG(state.st_mode):
        return None
    return File(path, url, kind, state.st_size, state.st_mtime_ns)
