"""Formats that are one file each: every module of this folder that names its FORMAT is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from spadework.tools.extract.extracted import Extracted


@dataclass(frozen=True)
class Format:
    """A format: who reads it, and by what it is known: how its files begin, its media types, its
    endings without the dot.

    `read` takes the bytes and the URL of a document. It raises Unreadable or TooLarge, and nothing
    else, whatever the bytes.
    """

    name: str
    read: Callable[[bytes, str], Extracted]
    magic: bytes = b""
    media_types: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


@cache
def added_formats() -> dict[str, Format]:
    """All formats of this folder by their names."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    return {module.FORMAT.name: module.FORMAT for module in modules if hasattr(module, "FORMAT")}
