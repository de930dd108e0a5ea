"""Read the parts of zip-based documents, up to a size limit."""

from __future__ import annotations

import io
import lzma
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks, item, plain, sheet_table
from spadework.tools.extract.xml import (
    Element,
    attribute,
    below,
    child,
    number,
    tag,
    text,
    xml_tree,
)
from spadework.tools.text.facts import moment

MAX_PART = 50_000_000
#: Maximum number of entries in a zip file. Each entry takes 0.5 kB of memory.
MAX_ENTRIES = 100_000
_ENTRY = b"PK\x01\x02"
#: Matches the names of zip file entries that may contain text.
_WORDS = re.compile(r"\.(?:xml|x?html?|txt|docx?|xlsx?|pptx?)$|/embeddings/", re.IGNORECASE)
_FURNITURE = re.compile(
    r"(?:^|/)(?:META-INF|Configurations2|docProps|customXml|theme|slide(?:Layout|Master)s|activeX"
    r"|(?:notes|handout)Masters|glossary|tags|ctrlProps|pivotCache|pivotTables|tables|queryTables"
    r"|slicers?(?:Caches)?|externalLinks|revisions|slides|notesSlides|worksheets|chartsheets"
    r"|dialogsheets|macrosheets|changesInfos|ink|webextensions)/"
    r"|(?:^|/)(?:styles|stylesWithEffects|settings|webSettings|fontTable|numbering|header\d*|people"
    r"|footer\d*|presProps|viewProps|tableStyles|vbaData|calcChain|sharedStrings|metadata|layout\d*"
    r"|comments(?:Ids|Extended|Extensible)|commentAuthors|authors|connections|quickStyle\d*|meta"
    r"|colors\d*|style\d*|drawing\d*|volatileDependencies|revisionInfo|\[Content_Types\]"
    r"|person|xmlMaps|footnotes|endnotes)\.\w+$"
)
_MOST_NAMED = 5

_FAULTS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError, IndexError),
)


@contextmanager
def whole(what: str) -> Iterator[None]:
    """Raise Unreadable if the archive is damaged or has a password. `what` names the file."""
    try:
        yield
    except FetchError:
        raise
    except _FAULTS as error:
        if "encrypted" in str(error):
            raise Unreadable(f"The {what} is protected by a password.") from None
        raise Unreadable(
            f"The {what} is damaged: {str(error)[:100].strip(' .') or type(error).__name__}."
        ) from None


#: Default author names that programs write.
_TEMPLATES = frozenset(
    ("Microsoft Office User", "Apache POI", "openpyxl", "python-docx", "Steve Canny", "PptxGenJS")
)


def open_zip(body: bytes, what: str) -> zipfile.ZipFile:
    """Open a zip file. Raises Unreadable if damaged, or TooLarge above MAX_ENTRIES entries."""
    entries = body.count(_ENTRY)
    if entries > MAX_ENTRIES:
        raise TooLarge(f"The {what} has {entries:,} entries; the limit is {MAX_ENTRIES:,}.")
    with whole(what):
        return zipfile.ZipFile(io.BytesIO(body))


class Package:
    """The parts of a zip file, named `what` in errors. `main`: an Office file's main part or ""."""

    def __init__(self, body: bytes, what: str) -> None:
        self.what = what
        self._zip = open_zip(body, what)
        self._read: set[str] = set()
        self.names = {name.lstrip("/"): name for name in self._zip.namelist()}
        self.main = self._main() if "[Content_Types].xml" in self.names else ""

    def read(self, name: str, limit: int = MAX_PART) -> bytes:
        """Return a part's bytes (b"" if missing). Raises Unreadable, or TooLarge above `limit`."""
        if name not in self.names:
            return b""
        self._read.add(name)
        with whole(self.what), self._zip.open(self.names[name]) as part:
            found = part.read(limit + 1)
        if len(found) > limit:
            raise TooLarge(f"A part of the {self.what} has more than {limit:,} bytes.")
        return found

    def tree(self, name: str) -> Element | None:
        """Return a part as XML, or None if the part is missing or empty."""
        xml = self.read(name)
        return xml_tree(xml, self.what) if xml.strip() else None

    def needed(self, name: str) -> Element:
        """Return a part as XML. Raises Unreadable if the part is missing or empty."""
        found = self.tree(name)
        if found is None:
            raise Unreadable(f"The {self.what} is damaged: {name} is missing.")
        return found

    def _main(self) -> str:
        root = self.tree("_rels/.rels")
        for relation in root if root is not None else ():
            if attribute(relation, "Type").endswith("/officeDocument"):
                return attribute(relation, "Target").lstrip("/")
        return ""

    def relations(self, name: str) -> dict[str, str]:
        """Return a part's relationships: the names of other parts, or URLs, keyed by id."""
        folder, _, file = name.rpartition("/")
        found = self.tree(f"{folder}/_rels/{file}.rels")
        relations = {}
        for relation in found if found is not None else ():
            target = attribute(relation, "Target")
            if attribute(relation, "TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            relations[attribute(relation, "Id")] = target
        return relations

    def about(self, markdown: str, *, title: str = "", kind: str) -> Extracted:
        """Return Markdown with the file's metadata, using `title` if the metadata has no title."""
        core = self.tree("docProps/core.xml")
        said = {tag(part): text(part) for part in core} if core is not None else {}
        if said.get("creator") in _TEMPLATES:
            del said["creator"]
        said["date"] = said.get("modified") or said.get("created", "")
        return described(said, blocks([markdown, self.unread()]), title=title, kind=kind)

    def unread(self, known: Collection[str] = ()) -> str:
        """Return a line naming the unread parts not in `known`, or "" if there are none."""
        left = [
            name
            for name in self.names
            if _WORDS.search(name)
            and not _FURNITURE.search(name)
            and name not in self._read
            and name not in known
        ]
        named = ", ".join(left[:_MOST_NAMED])
        more = f" and {len(left) - _MOST_NAMED} more" if len(left) > _MOST_NAMED else ""
        return plain(f"… Parts of the file were not read: {named}{more}.") if left else ""


def described(said: Mapping[str, str], markdown: str, *, title: str = "", kind: str) -> Extracted:
    """Return Markdown with the Dublin Core metadata `said`. `title` is used if it has no title."""
    return Extracted(
        title=said.get("title") or title,
        markdown=markdown,
        author=said.get("creator", ""),
        published_at=moment(said.get("date", "")),
        language=said.get("language", "").split("-")[0].lower(),
        kind=kind,
    )


_MOST_POINTS = 5_000
_NAMES, _VALUES = ("cat", "xVal"), ("val", "yVal")


def drawing_text(package: Package, relations: dict[str, str], element: Element) -> str:
    """Return a drawing's text. `element` is a chart, or the `relIds` element of a diagram."""
    is_chart = tag(element) == "chart"
    name = relations.get(attribute(element, "id" if is_chart else "dm"), "")
    root = package.tree(name)
    if root is None:
        return ""
    return _chart(root) if is_chart else _diagram(root)


def _chart(root: Element) -> str:
    title = ", ".join(filter(None, (_words(part) for part in below(root, "title"))))
    tables: dict[tuple[str, ...], list[list[str]]] = {}
    for series in below(root, "ser"):
        names = _points(next((part for part in series if tag(part) in _NAMES), None))
        values = _points(next((part for part in series if tag(part) in _VALUES), None))
        places = range(max([*names, *values], default=-1) + 1)
        head = tuple(names.get(place, str(place + 1)) for place in places)
        column = [_words(child(series, "tx")), *(values.get(place, "") for place in places)]
        tables.setdefault(head, [["", *head]]).append(column)
    shown = (
        sheet_table(map(list, zip_longest(*columns, fillvalue=""))) for columns in tables.values()
    )
    return blocks([plain(f"Chart: {title}") if title else "", *shown])


def _points(source: Element | None) -> dict[int, str]:
    points = below(source, "pt") if source is not None else ()
    return {
        number(attribute(point, "idx"), most=_MOST_POINTS): _value(_words(point))
        for point in points
    }


def _value(written: str) -> str:
    try:
        return f"{float(written):.15g}"
    except ValueError:
        return written


def _words(element: Element | None) -> str:
    if element is None:
        return ""
    parts = (part.text or "" for part in below(element, "t", "v"))
    return " ".join(" ".join(parts).split())


def _diagram(root: Element) -> str:
    return "\n".join(item(plain(text)) for text in _boxes(root) if text)


def _boxes(root: Element) -> Iterator[str]:
    for box in below(root, "pt"):
        yield _words(child(box, "t"))
