"""Find the documentation installed with Python, including the language reference and C modules."""

from __future__ import annotations

import ast
import csv
import importlib
import importlib.metadata
import importlib.util
import inspect
import itertools
import math
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks
from spadework.tools.extract.text.docstring_markup import docstring_markdown
from spadework.tools.extract.text.markdown import clean_markdown
from spadework.tools.extract.text.plain_text import extract_rst, extract_text
from spadework.tools.library.docstrings import (
    MIN_CHARS as MIN_DOCSTRING,
    ModuleText,
    entry,
    module_markdown,
)
from spadework.tools.library.document import Document, Part
from spadework.tools.library.python_sources import MAX_CHARS, Module, Sources, public_names, text_of
from spadework.tools.text.passages import headings
from spadework.tools.text.tokens import is_ordinary

MAX_DESCRIPTION = 300_000
#: The name of this package. It is left out of the library, because questions would match the
#: example questions in its README.
OURS = "spadework"
#: A distribution's metadata folder (None: the standard library), and whether to read the whole
#: distribution.
Wanted = tuple[Path | None, bool]


@dataclass(frozen=True)
class Package:
    """A distribution or the standard library. `files` are relative to `root`."""

    name: str
    version: str
    root: Path
    files: tuple[str, ...]
    summary: str = ""
    description: str = ""
    description_type: str = ""

    @property
    def collection(self) -> str:
        """The collection name at the start of the package's URLs."""
        return f"{self.name}-{self.version}"


def installed_packages() -> list[Path]:
    """Return the metadata folders of installed distributions except this package and type stubs."""
    found: dict[str, Path] = {}
    for place in map(Path, sys.path):
        if place.is_dir():
            for entry in [*place.glob("*.dist-info"), *place.glob("*.egg-info")]:
                found.setdefault(package_name(entry), entry)
    return [found[name] for name in sorted(found) if name != OURS and not name.startswith("types-")]


def package_name(place: Path | None) -> str:
    """Return a metadata folder's distribution name, or "python" for None."""
    return place.stem.partition("-")[0].lower().replace("_", "-") if place else "python"


def packages_in(text: str) -> frozenset[str]:
    """Return the installed packages named in a text. A name also selects its extensions, such as
    `pytest-cov` for `pytest`, and "python" selects the standard library.
    """
    installed = [package_name(place) for place in installed_packages()]
    words = re.sub(r"[\W_]+", " ", text.lower())
    spelled = {name: f" {re.sub(r'[^a-z0-9]+', ' ', name)} " for name in installed}
    said = [name for name in installed if spelled[name] in f" {words} "]
    # In a text about Python, a common word such as "requests" probably means the package.
    python = "python" in words.split()
    named = [name for name in said if python or not is_ordinary(name) or _is_name(text, name)]
    family = tuple(f"{name}-" for name in named)
    others = (name for name in installed if name.startswith(family))
    modules = sys.stdlib_module_names.intersection(re.findall(r"\w+", text))
    standard = not named and any(_is_code(text, module) for module in modules)
    own = ["python"] if standard or python else []
    return frozenset([*named, *others, *own])


#: A package is read in full if one of its files contains at least this fraction of a question's
#: words, weighted by rarity (benchmarks/README.md).
HELD = 0.5
#: Errors that reading a distribution with broken metadata can raise.
_BROKEN = (OSError, ValueError, TypeError, AttributeError, LookupError, csv.Error)


def packages_with(
    words: Collection[tuple[str, ...]], find: Callable[[str], set[str]]
) -> frozenset[str]:
    """Return the installed packages that have a file with enough of the words (see HELD). Each word
    is given as stems, and `find` returns the stems in a text. Words in no file are ignored.
    """
    found: dict[str, list[list[tuple[str, ...]]]] = {}
    for place in (None, *installed_packages()):
        with suppress(*_BROKEN):  # ignored here, because the build reports unreadable packages
            texts = map(find, _texts(package_at(place)))
            found[package_name(place)] = [
                [w for w in words if text.issuperset(w)] for text in texts
            ]
    files = list(itertools.chain.from_iterable(found.values()))
    counts = Counter(itertools.chain.from_iterable(files))
    weights = {word: math.log(1 + len(files) / count) for word, count in counts.items()}
    least = HELD * sum(weights.values())
    return frozenset(
        name
        for name, texts in found.items()
        if any(text and sum(map(weights.__getitem__, text)) >= least for text in texts)
    )


def _texts(package: Package) -> Iterator[str]:
    """Yield the texts of a package's sources and documentation."""
    for file in package.files:
        is_text = _is_documentation(file)
        if (is_text or file.endswith((".py", ".pyi"))) and not _OUTSIDE.search(file):
            most = MAX_DESCRIPTION if is_text else MAX_CHARS
            path = package.root / file
            if path.is_file() and path.stat().st_size <= most:
                yield text_of(path)


def _is_name(text: str, word: str) -> bool:
    return _is_code(text, word) or bool(re.search(rf"[\w,] {word.capitalize()}\b", text))


def _is_code(text: str, name: str) -> bool:
    kind = "(?:package|library|module|install|import)"
    forms = rf"`{name}\b|\b{name}`|\b{name}\.\w|\b{kind} {name}\b|\b{name} {kind}\b"
    return re.search(forms, text, re.I) is not None


def package_at(place: Path | None) -> Package:
    """Return the distribution with its metadata in `place`, or the standard library for None."""
    if place is None:
        root = Path(sysconfig.get_path("stdlib"))
        files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
        return Package("python", ".".join(map(str, sys.version_info[:3])), root, tuple(files))
    distribution = importlib.metadata.Distribution.at(place)
    # Use a dict, because future versions of `metadata` will raise an error for a missing key.
    said = {name: str(value) for name, value in distribution.metadata.json.items()}
    return Package(
        name=(said.get("name") or place.stem.partition("-")[0]).lower(),
        version=said.get("version") or "0",
        root=place.parent,
        files=tuple(str(path) for path in distribution.files or () if ".." not in path.parts),
        summary=said.get("summary", ""),
        description=said.get("description", "")[:MAX_DESCRIPTION],
        description_type=said.get("description_content_type", "").partition(";")[0].strip().lower(),
    )


_READERS = {".md": clean_markdown, ".rst": extract_rst, ".txt": extract_text}
_KINDS = {"text/markdown": ".md", "text/x-rst": ".rst", "text/plain": ".txt"}
_OUTSIDE = re.compile(
    r"(?:^|/)(?:\.[^/]*|tests?|testdata|_?vendor(?:ed)?|typeshed|third_?party|site-packages|dist-packages|node_modules|__pycache__|idlelib|lib2to3|turtledemo|"
    r"ensurepip|pydoc_data|encodings|[^/]*\.(?:dist-info|egg-info|data))(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|[^/]*_pb2(?:_grpc)?|conftest|setup|__main__|antigravity|this)\.pyi?$"
)
_NOT_DOCUMENTATION = re.compile(
    r"licen[cs]e|copying|notice|authors|requirements|change|history|vendor|prompt|stoplist|top_level|entry_points",
    re.I,
)
_HISTORY = re.compile(
    r"\W*(?:change ?logs?|changes(?: in .*)?|release (?:notes|history|information)|version history|"
    r"history|what.?s new.*|news|recent changes|credits|contributors|backers|sponsors?)\W*",
    re.I,
)
_VERSION = re.compile(r"\W*(?:version |release )?v?\d+\.\d+|\W*unreleased|\W*\d{4}-\d\d-\d\d", re.I)
MIN_CHARS = 80


def parts_of(package: Package) -> Iterator[Part]:
    """Yield a package's description, text files and public modules' docstrings."""
    if package.name == "python":
        yield from language_reference(package.root, package.collection)
        yield from compiled_modules(package.collection)
    yield Part(f"library://{package.collection}/README", partial(_description, package))
    files = [file for file in package.files if not _OUTSIDE.search(file)]
    for file in files:
        if _is_documentation(file):
            url = f"library://{package.collection}/{file}"
            yield Part(url, partial(_read_shipped, package, file, url))
    yield from _docstrings(package, files)


def _is_documentation(file: str) -> bool:
    return PurePosixPath(file).suffix.lower() in _READERS and not _NOT_DOCUMENTATION.search(file)


def _description(package: Package) -> Document | None:
    text, summary = package.description, package.summary.strip()
    suffix = _KINDS.get(package.description_type) or _guess_format(text)
    url = f"library://{package.collection}/README{suffix}"
    read = _READERS[suffix](text, url) if len(text) >= MIN_CHARS else None
    markdown = without_history(read.markdown) if read else ""
    title = f"{package.name}: {summary.rstrip('.')}" if package.summary else package.name
    if len(markdown) < MIN_CHARS:
        markdown = f"# {package.name}\n\n{summary}\n"
    return Document(url, title, markdown) if package.summary or read else None


def _guess_format(description: str) -> str:
    if re.search(r"^(?:={3,}|-{3,}|\.\. [\w-]+::)", description, re.M):
        return ".rst"
    return ".md" if re.search(r"^#{1,3} |^```", description, re.M) else ".rst"


def without_history(markdown: str) -> str:
    """Remove change logs and credits from Markdown."""
    kept: list[str] = []
    at = 0
    cutting = 0
    for start, level, title in headings(markdown):
        if cutting and level > cutting:
            continue
        if cutting and _VERSION.match(title):
            cutting = level
            continue
        if cutting:
            at, cutting = start, 0
        if _HISTORY.fullmatch(title):
            kept.append(markdown[at:start])
            cutting = level
    return "".join([*kept, "" if cutting else markdown[at:]]).rstrip() + "\n"


def _read_shipped(package: Package, file: str, url: str) -> Document | None:
    text = text_of(package.root / file)
    suffix = PurePosixPath(file).suffix.lower()
    if not MIN_CHARS <= len(text) <= MAX_DESCRIPTION or (suffix == ".txt" and not _is_prose(text)):
        return None
    read: Extracted = _READERS[suffix](text, url)
    markdown = without_history(read.markdown)
    if len(markdown) < MIN_CHARS:
        return None
    title = f"{package.name}: {read.title or PurePosixPath(file).stem}"
    return Document(url, title, markdown, read.published_at)


def _is_prose(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    words = sum(len(line.split()) for line in lines)
    letters = sum(char.isalpha() or char.isspace() for char in text[:5_000])
    return words > 5 * len(lines) and letters > 0.8 * len(text[:5_000])


def _docstrings(package: Package, files: list[str]) -> Iterator[Part]:
    sources = Sources(package.root, files)
    public: dict[str, dict[str, str]] = {}
    for (where, name), shown in public_names(sources).items():
        public.setdefault(where, {})[name] = shown
    shown_modules = {module.name: module for module in sources.public()}
    shown_modules |= {name: module for name in public if (module := sources.get(name))}
    for name, module in shown_modules.items():
        url = f"library://{package.collection}/{sources.files[name]}"
        yield Part(url, partial(_module, url, module, public.get(name)))
    if package.name == "python":
        yield from borrowed_names(package.collection, shown_modules.values())


def _module(url: str, module: Module, public: Mapping[str, str] | None) -> Document | None:
    text = module_markdown(module.tree, module.name, public)
    if len(text.markdown) < MIN_CHARS:
        return None
    title = _title(module, text)
    return Document(url, title, f"# {title}\n\n{text.markdown}\n")


def _title(module: Module, text: ModuleText) -> str:
    names = [name.rpartition(".")[2] for name in text.names[:4]]
    if module.private:
        return ", ".join([text.names[0], *names[1:]])
    said = text.summary if 0 < len(text.summary) <= 120 else ", ".join(names)
    return f"{module.name}: {said}" if said else module.name


#: Modules that are not imported, because they have side effects, need a display or are deprecated.
_NOT_IMPORTED = frozenset((
    "antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "readline", "rlcompleter",
    "nis", "ossaudiodev", "spwd",
))  # fmt: skip
_NOT_SHOWN = frozenset(("__loader__", "__spec__", "__builtins__"))
#: Exceptions that `inspect.signature` can raise. There are many, because it evaluates the
#: signature text of compiled functions.
_NO_SIGNATURE = (ValueError, TypeError, AttributeError, NameError, LookupError, SyntaxError)


def language_reference(root: Path, collection: str) -> Iterator[Part]:
    """Yield the language reference's chapters, which Python ships for `help()`."""
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
    """Yield introspected documentation of public standard-library modules without Python source."""
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
    """Yield documents on names that Python modules re-export from C, like `collections.deque`."""
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
    if len(text) < MIN_DOCSTRING and not any(inner):
        return ""
    title, made = f"{'class ' if inspect.isclass(value) else ''}{name}", _signature(value)
    call = f"{name}{made}" if made else ""
    return blocks([entry(title, call, docstring_markdown(text, level + 1), level), *inner])


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
        return None  # the module was not built, or does not support this platform
