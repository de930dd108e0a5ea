"""Document what has no Python source: the language reference and C modules."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

from spadework.tools.extract.markdown_writer import blocks, write_heading
from spadework.tools.extract.text.docstring_markup import docstring_markdown
from spadework.tools.library.docstrings import MIN_CHARS
from spadework.tools.library.document import Document, Part
from spadework.tools.library.python_sources import Module

#: Modules that print something or open a window when imported.
_NOT_IMPORTED = frozenset((
    "antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "readline", "rlcompleter",
    "nis", "ossaudiodev", "spwd",
))  # fmt: skip
_NOT_SHOWN = frozenset(("__loader__", "__spec__", "__builtins__"))
#: Exceptions from `inspect.signature`, which evaluates the signature text of compiled functions.
_NO_SIGNATURE = (ValueError, TypeError, AttributeError, NameError, LookupError, SyntaxError)


def language_reference(root: Path, collection: str) -> Iterator[Part]:
    """Yield the chapters of the language reference, which Python ships for its help."""
    try:
        tree = ast.parse((root / "pydoc_data" / "topics.py").read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return
    value = next((node.value for node in tree.body if isinstance(node, ast.Assign)), None)
    topics: dict[str, str] = ast.literal_eval(value) if isinstance(value, ast.Dict) else {}
    for name, text in topics.items():
        url = f"library://{collection}/pydoc_data/topics/{name}"
        yield Part(url, partial(_chapter, url, text))


def _chapter(url: str, text: str) -> Document:
    title, _, _ = text.strip().partition("\n")
    markdown = docstring_markdown(inspect.cleandoc(text), 1)
    return Document(url, title.strip().replace('"', ""), markdown + "\n")


def compiled_modules(collection: str) -> Iterator[Part]:
    """Yield the public standard modules without Python source, documented by introspection."""
    for name in sorted(sys.stdlib_module_names - _NOT_IMPORTED):
        if not name.startswith("_") and _is_compiled(name):
            url = _url(collection, name)
            yield Part(url, partial(_read_compiled, url, name))


def _read_compiled(url: str, name: str) -> Document | None:
    module = _import_quietly(name)
    if module is None:
        return None
    before = f"{name}." if name != "builtins" else ""
    members = ((before + key, value) for key, value in sorted(vars(module).items()))
    return _document(url, name, inspect.getdoc(module) or "", members)


def borrowed_names(collection: str, modules: Iterable[Module]) -> Iterator[Part]:
    """Yield what Python modules re-export from C modules, such as `collections.deque`."""
    for module in modules:
        if not module.private:
            url = _url(collection, module.name)
            yield Part(url, partial(_read_borrowed, url, module))


def _read_borrowed(url: str, module: Module) -> Document | None:
    imports = sorted(module.imports.items())
    found = ((f"{module.name}.{name}", _member(*where)) for name, where in imports)
    members = ((name, value) for name, value in found if value is not None)
    return _document(url, module.name, "", members)


def _url(collection: str, name: str) -> str:
    return f"library://{collection}/compiled/{name}"


def _member(source: str, name: str) -> Any:
    known = source.startswith("_") and source not in _NOT_IMPORTED and _is_compiled(source)
    module = _import_quietly(source) if known else None
    return getattr(module, name, None) if not name.startswith("_") else None


def _document(url: str, name: str, own: str, members: Iterable[tuple[str, Any]]) -> Document | None:
    parts = [text for key, value in members if (text := _object(key, value, 2))]
    if not parts:
        return None
    said = own.partition("\n\n")[0].replace("\n", " ").rstrip(".")
    title = f"{name}: {said}" if 0 < len(said) <= 120 else name
    return Document(url, title, blocks([f"# {title}", docstring_markdown(own, 2), *parts]) + "\n")


def _object(name: str, value: Any, level: int) -> str:
    if (
        name.rpartition(".")[2].startswith("_")
        or name in _NOT_SHOWN
        or not (inspect.isclass(value) or inspect.isroutine(value))
    ):
        return ""
    text = inspect.getdoc(value) or ""
    members = vars(value).items() if inspect.isclass(value) and level == 2 else ()
    inner = [_object(f"{name}.{key}", member, level + 1) for key, member in members]
    if len(text) < MIN_CHARS and not any(inner):
        return ""
    title = f"{'class ' if inspect.isclass(value) else ''}{name}{_signature(value)}"
    return blocks([write_heading(title, level), docstring_markdown(text, level + 1), *inner])


def _signature(value: Any) -> str:
    try:
        shown = str(inspect.signature(value)).replace("(self, /)", "()")
        return shown.replace("(self, /, ", "(").replace("($self, /, ", "(")
    except _NO_SIGNATURE:
        return ""


def _is_compiled(name: str) -> bool:
    if name in sys.builtin_module_names:
        return True
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return bool(spec and spec.origin and spec.origin.endswith(tuple(EXTENSION_SUFFIXES)))


def _import_quietly(name: str) -> ModuleType | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ImportError:
        return None  # not built, or not for this platform
