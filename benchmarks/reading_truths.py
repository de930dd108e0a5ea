"""What the sets of pages take for content, and the best F1 that whole blocks can have on each.

    pip install scikit-learn lightgbm
    python benchmarks/reading_truths.py PAGES.jsonl.xz …

Of each kind of page in each set: the share of its first headings, captions, bylines, dates and
comments that stand in the truth, by what the elements are called; and the mean F1 of exactly the
blocks of which most stands there (of pages that have blocks).
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

from benchmarks.reading_sweep import Case, read_cases
from spadework.tools.extract.page.page_blocks import Block, Frame

NAMED = {
    "caption": {"caption", "credit"},
    "byline": {"byline", "author", "authors", "autor"},
    "date": {"date", "time", "tag:time", "published", "timestamp", "datetime"},
}
COMMENTS = {"comment", "comments", "reply"}


def traits(block: Block, levels: int) -> set[str]:
    """What so many elements around a block are called."""
    found: set[str] = set()
    frame: Frame | None = block.frame
    while frame is not None and levels:
        found.update(frame.traits)
        frame, levels = frame.parent, levels - 1
    return found


def part(block: Block) -> str | None:
    """Which of the parts that truths differ on a block is."""
    if block.kind in ("h1", "caption"):
        return block.kind
    near = traits(block, 2)
    for name, words in NAMED.items():
        if words & near:
            return name
    return "comment" if COMMENTS & traits(block, 99) else None


def best(case: Case) -> float:
    """The F1 of exactly the blocks that are content."""
    kept = zip(case.words, case.content, strict=True)
    got = Counter(word for text, content in kept if content for word in text)
    want = Counter(case.truth)
    return 2 * (got & want).total() / ((got.total() + want.total()) or 1)


def shares(cases: Iterable[Case]) -> dict[tuple[str, str], list[bool]]:
    """Of each kind of page and part: whether each block of it is content."""
    found = defaultdict(list)
    for case in cases:
        for block, content in zip(case.blocks, case.content, strict=True):
            if name := part(block):
                found[case.kind, name].append(content)
    return found


def main() -> None:
    """Print the shares and the best F1 of each set."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("sets", nargs="+", type=Path)
    for path in ask.parse_args().sets:
        cases = [case for case in read_cases(path) if case.blocks]
        print(f"{path.name}: {len(cases)} pages, best F1 {fmean(map(best, cases)):.4f}")
        for (kind, name), content in sorted(shares(cases).items()):
            print(f"  {kind:<14}{name:<9}{fmean(content):6.2f} of {len(content)}")


if __name__ == "__main__":
    main()
