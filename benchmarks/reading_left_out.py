"""What to expect of the HTML reader on pages of other sets: each set is left out, the reader is
fitted on the others and measured on it, beside trafilatura in the same run.

    pip install scikit-learn lightgbm
    python benchmarks/reading_left_out.py PAGES.jsonl.xz …  [--hosts PAGES.jsonl.xz …]

A set under `--hosts` is not left out whole but by its hosts (or sites), a fifth of them at a time:
so the one set that has several kinds of pages has to be.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from benchmarks.reading import READERS, measure
from benchmarks.reading_sweep import FOLDS, Case, fit, fold_of, read_cases
from spadework.tools.extract.page import metadata, scorer

Figures = dict[str, dict[str, float]]


cases_of = cache(read_cases)


def use(text: str) -> None:
    """Let the reader read with these weights."""
    scorer.weights_text = lambda: text
    scorer.weights.cache_clear()
    scorer.second_odds.cache_clear()
    scorer.added.cache_clear()
    metadata.clue_weights.cache_clear()


def fitted(name: str, cases: Iterable[Case], kept: Path | None) -> str:
    """The weights fitted on `cases`, or those of an earlier run in the folder `kept`."""
    path = kept / f"{name}.txt" if kept else None
    if path and path.exists():
        return path.read_text("utf8")
    text = fit(list(cases))
    if path:
        path.write_text(text, "utf8")
    return text


def left_out(path: Path, sets: list[Path], kept: Path | None) -> Figures:
    """The figures on a set that the weights never saw."""
    others = (one for other in sets if other != path for one in cases_of(other))
    use(fitted(path.name, others, kept))
    return measure(path)


def by_hosts(path: Path, sets: list[Path], kept: Path | None) -> Figures:
    """The figures on a set, each page read with weights that never saw its host or site."""
    texts = {}
    for fold in range(FOLDS):
        others = (
            one for other in sets for one in cases_of(other) if other != path or one.fold != fold
        )
        texts[fold] = fitted(f"{path.name}-{fold}", others, kept)
    return measure(path, each=lambda row: use(texts[fold_of(row)]))


def main() -> None:
    """Print the figures of each set."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("sets", nargs="+", type=Path)
    ask.add_argument("--hosts", nargs="*", type=Path, default=[])
    ask.add_argument("--weights", type=Path, help="keep the weights in this folder, and use them")
    args = ask.parse_args()
    sets = [*args.sets, *args.hosts]
    for path in sets:
        result = (by_hosts if path in args.hosts else left_out)(path, sets, args.weights)
        print(f"{path.name:<34}{''.join(f'{name:>14}' for name in READERS)}")
        for figure in result["spadework"]:
            columns = (f"{result[name][figure]:>14.4f}" for name in READERS)
            print(f"  {figure:<32}{''.join(columns)}", flush=True)


if __name__ == "__main__":
    main()
