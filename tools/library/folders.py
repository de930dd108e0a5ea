"""The files of a user's own folders that can be read as documents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from spadework.errors import SettingsError

MEDIA_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".rst": "text/x-rst",
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".rtf": "application/rtf",
    ".epub": "application/epub+zip",
}
_LEFT_OUT = frozenset(("node_modules", "__pycache__", "__macosx"))
#: Names of files without an ending that are text by custom.
_BARE = re.compile(r"readme|install|news|todo|faq|howto|manual", re.I)
_SIGNS = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class File:
    """A file to be read; `mtime` is in nanoseconds."""

    path: Path
    url: str
    media_type: str
    size: int
    mtime: int


def collections(paths: Sequence[Path]) -> dict[str, Path]:
    """A name of its own for every folder (for a file, that of the folder it lies in), in the order given.

    Raises SettingsError, naming the path, when one does not exist or must not be read.
    """
    found: dict[str, Path] = {}
    for path in dict.fromkeys(Path(each).expanduser().absolute() for each in paths):
        _check(path)
        folder = path if path.is_dir() else path.parent
        name = _SIGNS.sub("-", folder.name or "library").strip("-.").lower() or "library"
        number = 2
        unique = name
        while unique in found:
            unique = f"{name}-{number}"
            number += 1
        found[unique] = path
    return found


def _check(path: Path) -> None:
    if not path.exists():
        raise SettingsError(f"The library path {path} does not exist.", hint="Name an existing file or folder.")
    if not os.access(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK):
        raise SettingsError(f"The library path {path} cannot be read: permission denied.", hint="Give yourself the right to read it.")


def files(paths: Sequence[Path]) -> list[File]:
    """Every document file of the paths, sorted by URL.

    Hidden files and folders, links that lead out of the folder and files that are no documents are left out. Raises like `collections`.
    """
    found = []
    for name, path in collections(paths).items():
        root = path if path.is_dir() else path.parent
        for entry in _walk(root, root.resolve()) if path.is_dir() else [path]:
            if file := _file(entry, f"library://{quote(name)}/{quote(entry.relative_to(root).as_posix())}"):
                found.append(file)
    return sorted(found, key=lambda file: file.url)


def _walk(folder: Path, root: Path) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except PermissionError:
        return  # a folder inside the library that is not ours to read
    for entry in entries:
        if entry.name.startswith(".") or entry.name.lower() in _LEFT_OUT:
            continue
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(path, root)
        elif entry.is_file() and (not entry.is_symlink() or path.resolve().is_relative_to(root)):
            yield path


def _file(path: Path, url: str) -> File | None:
    suffix = path.suffix.lower()
    media_type = MEDIA_TYPES.get(suffix) or ("text/plain" if not suffix and _BARE.match(path.name) else "")
    if not media_type:
        return None
    try:
        state = path.stat()
    except OSError:
        return None  # gone since the folder was listed
    return File(path, url, media_type, state.st_size, state.st_mtime_ns)
