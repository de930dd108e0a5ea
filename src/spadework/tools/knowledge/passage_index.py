"""The embedded store's full-text index: passages by the rules of the library's index."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import tantivy

from spadework.tools.knowledge.entry import PASSAGE_CHARS, Entry
from spadework.tools.knowledge.page_ranking import document
from spadework.tools.library.document import pieces
from spadework.tools.library.index_writer import index_document
from spadework.tools.library.query import Asked, Term, about, all_of, any_of
from spadework.tools.library.ranking import Match
from spadework.tools.library.schema import open_index, open_writer, schema, spread, subject
from spadework.tools.stores.private_files import close_files, private_folder

#: Passages that each query proposes: any term, all terms, about a named subject.
_ANY, _ALL, _ABOUT = 40, 20, 10
_HEAP_BYTES = 32_000_000
#: Words are as rare as if so many other passages were there: what a small store is full of is not
#: common for that, and a word that it lacks does not outweigh all others.
_OTHERS = 10_000


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
            for passage in _passages(number, entry):
                writer.add_document(passage)
        writer.commit()
        writer.wait_merging_threads()
        close_files(self.folder)

    def remove(self) -> None:
        """Delete its files. Who is just reading them may go on."""
        shutil.rmtree(self.folder, ignore_errors=True)


def propose_passages(searcher: tantivy.Searcher, question: Asked) -> Iterator[Match]:
    """Passages that may answer a question."""
    queries = [(any_of(question.terms), _ANY)]
    if sum(term.needed for term in question.terms) > 1:
        queries.append((all_of(question.terms), _ALL))
    if question.subjects:
        queries.append((about(question.subjects, question.terms), _ABOUT))
    for query, most in queries:
        hits = searcher.search(query, most, count=False).hits
        places = [
            searcher.fast_field_values(name, [address for _, address in hits])
            for name in ("document", "start", "end")
        ]
        for (score, _), number, start, end in zip(hits, *places, strict=True):
            yield Match(number, start, end, score)


def rarity(searcher: tantivy.Searcher, term: Term) -> float:
    """How rare a term is among the passages and others (BM25's inverse document frequency)."""
    counts = [searcher.doc_freq("body", word) for word in term.words] if not term.signed else []
    count = min(counts, default=searcher.doc_freq("signed", term.text))
    return math.log(1 + (searcher.num_docs + _OTHERS - count + 0.5) / (count + 0.5))


def _passages(number: int, entry: Entry) -> Iterator[tantivy.Document]:
    page = document(entry)
    title = spread(page.title)
    for n, piece in enumerate(pieces(page, PASSAGE_CHARS)):
        passage = index_document(page, piece, title)
        passage.add_integer("document", number)
        if n == 0:
            passage.add_text("subject", subject(page.title))
        yield passage
