"""Discover this folder's formats, one per module that defines FORMAT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from spadework.tools.extract.extracted import Extracted


@dataclass(frozen=True)
class Format:
    """A document format, recognised by its first bytes, media type or file extension (without the
    dot). `read` raises only Unreadable or TooLarge.
    """

    name: str
    read: Callable[[bytes, str], Extracted]
    magic: bytes = b""
    media_types: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


@cache
def added_formats() -> dict[str, Format]:
    """Return the formats in this folder, keyed by name."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    return {module.FORMAT.name: module.FORMAT for module in modules if hasattr(module, "FORMAT")}
