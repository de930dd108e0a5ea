"""How many real pages are dirty, and how many of their sentences are taken for orders to machines.

    python benchmarks/cleaning.py PAGES.jsonl.xz …  [--limit 80] [--show]

The sets are those of `reading.py`: a line is a page with `html` and `url`. `--show` prints what was
taken out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from reading import ours, rows

from spadework.agents.cleaner import is_dirty
from spadework.tools.text.prompt_injection import spans_between_injections
from spadework.tools.text.sentences import sentences


def taken_out(markdown: str) -> tuple[int, list[str]]:
    """How many sentences a page has, and those that are shown to no role."""
    kept = spans_between_injections(markdown)
    found = sentences(markdown)
    lost = [
        markdown[start:end]
        for start, end in found
        if not any(first <= start and end <= last for first, last in kept)
    ]
    return len(found), lost


def main(asked: argparse.Namespace) -> None:
    """Print the figures of every set."""
    for path in asked.sets:
        pages, dirty, count, lost = 0, 0, 0, list[str]()
        for row in rows(path, asked.limit):
            markdown = ours(row["html"], row["url"])
            pages += 1
            dirty += is_dirty(markdown, "default")
            total, out = taken_out(markdown)
            count += total
            lost += out
        print(
            f"{path.name}: {dirty} of {pages} pages are dirty; {len(lost)} of {count} sentences are"
            " taken out"
        )
        if asked.show:
            print(*(f"  {' '.join(sentence.split())[:160]}" for sentence in lost), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--show", action="store_true")
    main(parser.parse_args())
