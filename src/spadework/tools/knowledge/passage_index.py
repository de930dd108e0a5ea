"""The embedded store's full-text index: passages by the rules of the library's index."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import tantivy

from spadework.tools.knowledge.entry import Entry
from spadework.tools.knowledge.page_ranking import document
from spadework.tools.library.document import pieces
from spadework.tools.library.index_writer import index_passages
from spadework.tools.library.schema import open_index, open_writer, schema
from spadework.tools.stores.private_files import close_files, private_folder

_HEAP_BYTES = 32_000_000


class PassageIndex:
    """The index in `folder`, read by several processes; who writes holds the store's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index: tantivy.Index | None = None

    def searcher(self) -> tantivy.Searcher | None:
        """A view of what was committed last, None where there is no index yet."""
        if self._index is None and not (self.folder / "meta.json").exists():
            return None
        self._index = self._index or open_index(self.folder)
        self._index.reload()
        return self._index.searcher()

    @property
    def intact(self) -> bool:
        """Whether there is an index, not damaged and of this format."""
        try:
            return self.searcher() is not None
        except ValueError:
            return False

    def write(self, entries: Iterable[tuple[int, Entry]], gone: Iterable[int] = ()) -> None:
        """Index pages by number and drop those of `gone`, all or nothing."""
        private_folder(self.folder)
        writer = open_writer(open_index(self.folder), _HEAP_BYTES)
        dropped = tantivy.Query.term_set_query(schema(), "document", list(gone))
        writer.delete_documents_by_query(dropped)
        for number, entry in entries:
            page = document(entry)
            for passage in index_passages(number, page, pieces(page)):
                writer.add_document(passage)
        writer.commit()
        writer.wait_merging_threads()
        close_files(self.folder)

    def remove(self) -> None:
        """Delete its files. Who is just reading them may go on."""
        shutil.rmtree(self.folder, ignore_errors=True)
