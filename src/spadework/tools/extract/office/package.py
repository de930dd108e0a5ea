"""Zip files of parts: each part within a limit, every fault reported as a refusal."""

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

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks, plain
from spadework.tools.extract.xml import Element, attribute, tag, text, xml_tree
from spadework.tools.text.quantities import moment

MAX_PART = 50_000_000
#: Maximum entries of a zip file; each takes 0.5 kB of memory, ten times its size.
MAX_ENTRIES = 100_000
_ENTRY = b"PK\x01\x02"
#: Parts that may hold words, and those whose words are repeated elsewhere or reported as cut by
#: their readers.
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
    """Raise the standard library's errors for damaged archives as Unreadable; `what` names the
    file.
    """
    try:
        yield
    except FetchError:
        raise
    except _FAULTS as error:
        if "encrypted" in str(error):
            raise Unreadable(f"The {what} is locked by a password.") from None
        raise Unreadable(
            f"The {what} is damaged: {str(error)[:100].strip(' .') or type(error).__name__}."
        ) from None


def open_zip(body: bytes, what: str) -> zipfile.ZipFile:
    """Open a zip file. Raises Unreadable when damaged, TooLarge over MAX_ENTRIES entries."""
    entries = body.count(_ENTRY)
    if entries > MAX_ENTRIES:
        raise TooLarge(f"The {what} has {entries:,} entries, the limit is {MAX_ENTRIES:,}.")
    with whole(what):
        return zipfile.ZipFile(io.BytesIO(body))


class Package:
    """A zip file's parts; `what` names it in errors, `main` is an Office file's main part."""

    def __init__(self, body: bytes, what: str) -> None:
        self.what = what
        self._zip = open_zip(body, what)
        self._read: set[str] = set()
        self.names = {name.lstrip("/"): name for name in self._zip.namelist()}
        self.main = self._main() if "[Content_Types].xml" in self.names else ""

    def read(self, name: str, limit: int = MAX_PART) -> bytes:
        """Return a part, b"" if missing. Raises TooLarge over `limit` bytes, Unreadable if
        damaged.
        """
        if name not in self.names:
            return b""
        self._read.add(name)
        with whole(self.what), self._zip.open(self.names[name]) as part:
            found = part.read(limit + 1)
        if len(found) > limit:
            raise TooLarge(f"A part of the {self.what} has more than {limit:,} bytes.")
        return found

    def tree(self, name: str) -> Element | None:
        """Return a part as XML, None if missing or empty."""
        xml = self.read(name)
        return xml_tree(xml, self.what) if xml.strip() else None

    def needed(self, name: str) -> Element:
        """Return a part as XML. Raises Unreadable if missing."""
        found = self.tree(name)
        if found is None:
            raise Unreadable(f"The {self.what} is damaged: {name} is missing.")
        return found

    def _main(self) -> str:
        """Return the name of an Office file's main part, or ""."""
        root = self.tree("_rels/.rels")
        for relation in root if root is not None else ():
            if attribute(relation, "Type").endswith("/officeDocument"):
                return attribute(relation, "Target").lstrip("/")
        return ""

    def relations(self, name: str) -> dict[str, str]:
        """Return the targets of a part by id: names of parts or URLs."""
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
        """Return an Office file with its metadata; `title` is the default."""
        core = self.tree("docProps/core.xml")
        said = {tag(part): text(part) for part in core} if core is not None else {}
        said["date"] = said.get("modified") or said.get("created", "")
        return described(said, blocks([markdown, self.unread()]), title=title, kind=kind)

    def unread(self, known: Collection[str] = ()) -> str:
        """Return a line that names unread parts with words, except boilerplate and `known` ones."""
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
        return plain(f"… Parts of the file are not read: {named}{more}.") if left else ""


def described(said: Mapping[str, str], markdown: str, *, title: str = "", kind: str) -> Extracted:
    """Return a document with its Dublin Core metadata; `title` is the default."""
    return Extracted(
        title=said.get("title") or title,
        markdown=markdown,
        author=said.get("creator", ""),
        published_at=moment(said.get("date", "")),
        language=said.get("language", "").split("-")[0].lower(),
        kind=kind,
    )
