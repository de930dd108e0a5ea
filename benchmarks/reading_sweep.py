"""Fits the weights of the HTML reader's scorer and chooses its constants, by cross-validation over
hosts.

    pip install scikit-learn
    python benchmarks/reading_sweep.py PAGES.jsonl.xz                   # word F1 for each setting,
    on hosts the weights never saw python benchmarks/reading_sweep.py PAGES.jsonl.xz --write FILE
    # fits on all pages and writes weights.txt python benchmarks/reading_sweep.py PAGES.jsonl.xz
    --folds FOLDER    # writes the weights of each fold

PAGES has one JSON object a line with `url`, `html`, `type` (the kind) and `main_content` (plain
text). A block counts as content when most of its word triples stand in the main content. Pages of
one host are never on both sides of a split.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from urllib.parse import urlsplit

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from spadework.tools.extract.page import scorer
from spadework.tools.extract.page.blocks import Block, Frame
from spadework.tools.extract.page.features import PageView, as_parent
from spadework.tools.extract.page.kinds import clues
from spadework.tools.extract.page.reading import parsed

FOLDS = 5
LEAST_PAGES = 20
KIND_LEAST_PAGES = 15
STRENGTH, SECOND_STRENGTH, KIND_STRENGTH = 2.0, 10.0, 0.1
STRENGTHS, BARS = (0.5, 1.0, 2.0, 4.0), (1.0, 1.1, 1.2, 1.3)
SMALLEST = 0.05
_WORD = re.compile(r"\w+")
_TARGET = re.compile(r"\]\([^()\s]*\)")


@dataclass
class Case:
    """A page with its blocks, the names of their features and which are content."""

    kind: str
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
        return [case(json.loads(line)) for line in lines]


def case(row: dict[str, str]) -> Case:
    """One page, walked and labelled."""
    page = parsed(row["html"], row["url"])
    view = PageView(page.blocks)
    texts = [words(_TARGET.sub("]", block.text).replace("\\", "")) for block in page.blocks]
    host = urlsplit(row["url"]).netloc.removeprefix("www.")
    fold = int(hashlib.md5(host.encode()).hexdigest(), 16) % FOLDS
    truth = row["main_content"]
    names = [feature_names(view, i) for i in range(len(page.blocks))]
    found = list(clues(row["url"], page.metadata, view))
    return Case(
        row["type"], fold, words(truth), page.blocks, names, found, texts, labels(texts, truth)
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


def fit_first(cases: list[Case], strength: float = STRENGTH) -> dict[str, float]:
    """The weights of the first scores."""
    names = vocabulary([[n for row in c.names for n in row] for c in cases], LEAST_PAGES)
    model = LogisticRegression(C=strength, max_iter=100, fit_intercept=False)
    model.fit(
        matrix([row for c in cases for row in c.names], names),
        [y for c in cases for y in c.content],
        [m for c in cases for m in masses(c)],
    )
    return {
        name: round(float(model.coef_[0][i]), 3)
        for name, i in names.items()
        if abs(model.coef_[0][i]) >= SMALLEST
    }


def first_scores(one: Case, weights: dict[str, float]) -> list[float]:
    """What `scorer.first_scores` gives with `weights`."""
    return [sum(weights.get(name, 0.0) for name in set(row)) for row in one.names]


def fit_second(cases: list[Case], scores: list[list[float]]) -> dict[str, float]:
    """The weights of the smoothing, on scores from models that did not see the page."""
    rows = [
        around.of(i)
        for c, s in zip(cases, scores, strict=True)
        for around in [scorer.Surroundings(c.blocks, s)]
        for i in range(len(s))
    ]
    model = LogisticRegression(C=SECOND_STRENGTH, max_iter=300)
    model.fit(
        np.array(rows), [y for c in cases for y in c.content], [m for c in cases for m in masses(c)]
    )
    values = [float(model.intercept_[0]), *map(float, model.coef_[0])]
    return {f"second {i}": round(value, 4) for i, value in enumerate(values)}


def fit_kinds(cases: list[Case]) -> dict[str, float]:
    """The weights that tell the kind of a page."""
    names = vocabulary([c.clues for c in cases], KIND_LEAST_PAGES)
    model = LogisticRegression(C=KIND_STRENGTH, max_iter=300, fit_intercept=False)
    model.fit(matrix([c.clues for c in cases], names), [c.kind for c in cases])
    table = {}
    for kind, row in zip(model.classes_, model.coef_, strict=True):
        table |= {
            f"{kind}: {name}": round(float(row[i]), 3)
            for name, i in names.items()
            if abs(row[i]) >= 0.08
        }
    return table


def out_of_fold(cases: list[Case], strength: float = STRENGTH) -> list[list[float]]:
    """The first scores of every page from a model fitted without its host's fold."""
    scores: dict[int, list[float]] = {}
    for fold in sorted({c.fold for c in cases}):
        weights = fit_first([c for c in cases if c.fold != fold], strength)
        scores |= {id(c): first_scores(c, weights) for c in cases if c.fold == fold}
    return [scores[id(c)] for c in cases]


def fit(cases: list[Case]) -> dict[str, float]:
    """All weights."""
    usable = [c for c in cases if c.blocks]
    return fit_first(usable) | fit_second(usable, out_of_fold(usable)) | fit_kinds(cases)


def cross_validate(cases: list[Case]) -> None:
    """Print word F1 (all pages, mean over kinds) for each strength and bar, without containers and
    metadata.
    """
    usable = [c for c in cases if c.blocks]
    for strength in STRENGTHS:
        scores = out_of_fold(usable, strength)
        table = {fold: second_of(usable, scores, fold) for fold in range(FOLDS)}
        for bar in BARS:
            found = defaultdict(list)
            for one, own in zip(usable, scores, strict=True):
                found[one.kind].append(word_f1(chosen(one, own, table[one.fold], bar), one.truth))
            every = [value for values in found.values() for value in values]
            print(
                f"strength {strength} bar {bar}: F1 {fmean(every):.4f}, macro"
                f" {fmean(map(fmean, found.values())):.4f}",
                flush=True,
            )


def second_of(cases: list[Case], scores: list[list[float]], fold: int) -> list[float]:
    """The smoothing fitted without a fold."""
    pairs = [(c, s) for c, s in zip(cases, scores, strict=True) if c.fold != fold]
    return list(fit_second([c for c, _ in pairs], [s for _, s in pairs]).values())


def chosen(one: Case, scores: list[float], second: list[float], bar: float) -> list[str]:
    """The words of the blocks over the bar, each text once."""
    around = scorer.Surroundings(one.blocks, scores)
    odds = [second[0] + float(np.dot(second[1:], around.of(i))) for i in range(len(scores))]
    chances = [1 / (1 + math.exp(-max(-30.0, min(30.0, value)))) for value in odds]
    least = scorer.bar(one.blocks, chances) * bar
    texts = {
        " ".join(text): text
        for text, chance in zip(one.words, chances, strict=True)
        if chance > least
    }
    return [word for text in texts.values() for word in text]


def word_f1(got: list[str], want: list[str]) -> float:
    """F1 over two bags of words."""
    if not got or not want:
        return float(not got and not want)
    return 2 * (Counter(got) & Counter(want)).total() / (len(got) + len(want))


def main() -> None:
    """Cross-validate, or fit and write."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("pages", type=Path)
    ask.add_argument("--write", type=Path)
    ask.add_argument(
        "--folds",
        type=Path,
        help=(
            "write the weights of each fold to this folder, to score pages with weights that never"
            " saw their host"
        ),
    )
    args = ask.parse_args()
    cases = read_cases(args.pages)
    if args.write:
        write(fit(cases), args.write)
    elif args.folds:
        for fold in range(FOLDS):
            write(fit([c for c in cases if c.fold != fold]), args.folds / f"{fold}.txt")
    else:
        cross_validate(cases)


def write(weights: dict[str, float], path: Path) -> None:
    """`weights` as lines of name, tab, number."""
    head = (
        "# Weights of the HTML reader, fitted by benchmarks/reading_sweep.py on WCXB pages"
        " (Murrough-Foley, CC-BY-4.0)\n"
    )
    path.write_text(
        head + "".join(f"{name}\t{value:g}\n" for name, value in sorted(weights.items())), "utf8"
    )


if __name__ == "__main__":
    main()
