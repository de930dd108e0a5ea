"""Our HTML reader and trafilatura on the same pages in one run.

    python benchmarks/reading.py PAGES.jsonl.xz …  [--limit 100] [--json]

A set of web pages has `html`, `url`, `type`, `main_content`, `with` and `without` (lists of
snippets) in each line; a set of documentation pages has `html`, `url`, `pres` (texts of all code
blocks), `tables` (rows of cell texts) and `text`. The figures are means over pages: word F1 of the
Markdown rendered as text, and shares of snippets, of code blocks that are equal, of table rows
that are equal and of whole tables that are. Seconds are CPU time of the calls alone, so that only
their ratio should be quoted.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import trafilatura
from markdown_it import MarkdownIt
from markdown_it.token import Token

from spadework.errors import SpadeworkError
from spadework.tools.extract import html as reader

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
Reader = Callable[[str, str], str]
Row = dict[str, Any]
Table = tuple[tuple[str, ...], ...]


def ours(html: str, url: str) -> str:
    """The Markdown of spadework."""
    try:
        return reader.extract(html, url).markdown
    except SpadeworkError:
        return ""


def theirs(html: str, url: str) -> str:
    """The Markdown of trafilatura."""
    return (
        trafilatura.extract(
            html, url=url, output_format="markdown", include_tables=True, include_formatting=True
        )
        or ""
    )


READERS: dict[str, Reader] = {"spadework": ours, "trafilatura": theirs}


def rows(path: Path, limit: int | None) -> Iterator[Row]:
    """The pages of a set."""
    with lzma.open(path, "rt", encoding="utf8") as lines:
        for i, line in enumerate(lines):
            if i == limit:
                return
            yield json.loads(line)


def inline_text(token: Token) -> str:
    """What one paragraph, heading or cell shows."""
    return "".join(
        (
            child.content
            if child.type in ("text", "code_inline")
            else " "
            if child.type.endswith("break")
            else ""
        )
        for child in token.children or []
    )


def shown(tokens: list[Token]) -> str:
    """The text of rendered Markdown."""
    pieces = []
    for token in tokens:
        if token.type == "inline":
            pieces.append(inline_text(token))
        elif token.type in ("fence", "code_block"):
            pieces.append(token.content)
        elif token.type == "html_block":
            pieces.append(re.sub(r"<[^>]*>", " ", token.content))
    return "\n".join(pieces)


def word_f1(got: str, want: str) -> float:
    """F1 over the words of two texts, each as often as it occurs."""
    left, right = (Counter(re.findall(r"\w+", text.lower())) for text in (got, want))
    if not left or not right:
        return float(not left and not right)
    return 2 * (left & right).total() / (left.total() + right.total())


def plain_code(text: str) -> str:
    """Code without trailing blanks and outer line ends."""
    text = text.replace("\r\n", "\n").replace("\xa0", " ").replace("\u200b", "").strip("\n")
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def tables_of(tokens: list[Token]) -> list[Table]:
    """All tables of a text."""
    found: list[list[list[str]]] = []
    inside = False
    for token in tokens:
        if token.type in ("table_open", "table_close"):
            inside = token.type == "table_open"
            found += [[] for _ in range(inside)]
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and inside:
            found[-1][-1].append(
                re.sub(r"\s+", " ", inline_text(token).replace("\xa0", " ")).strip()
            )
    return [tuple(map(tuple, table)) for table in found]


def web_figures(row: Row, tokens: list[Token]) -> dict[str, float]:
    """The figures of one web page."""
    text = shown(tokens)
    score = word_f1(text, row["main_content"])
    figures = {"F1": score, f"F1 {row['type']}": score}
    for name, snippets in (("must have", row["with"]), ("must not have", row["without"])):
        if snippets:
            figures[name] = fmean(snippet.lower() in text.lower() for snippet in snippets)
    return figures


def docs_figures(row: Row, tokens: list[Token], totals: Counter[str]) -> dict[str, float]:
    """The figures of one documentation page; code blocks and rows are counted over all pages in
    `totals`.
    """
    got = Counter(
        plain_code(token.content) for token in tokens if token.type in ("fence", "code_block")
    )
    want = Counter(row["pres"])
    tables = tables_of(tokens)
    wanted = Counter(tuple(map(tuple, table)) for table in row["tables"])
    wanted_rows = _rows(wanted.elements())
    totals += Counter(
        {
            "code": want.total(),
            "code hit": (got & want).total(),
            "code got": got.total(),
            "rows": wanted_rows.total(),
            "rows hit": (_rows(tables) & wanted_rows).total(),
            "tables": wanted.total(),
            "tables hit": (Counter(tables) & wanted).total(),
        }
    )
    return {"word F1": word_f1(shown(tokens), row["text"])}


def _rows(tables: Iterable[Table]) -> Counter[tuple[str, ...]]:
    return Counter(line for table in tables for line in table)


def measure(
    path: Path,
    limit: int | None = None,
    readers: Mapping[str, Reader] = READERS,
    each: Callable[[Row], None] = lambda row: None,
) -> dict[str, dict[str, float]]:
    """The figures of each reader on one set; `each` is called before a page is read."""
    figures: dict[str, defaultdict[str, list[float]]] = {
        name: defaultdict(list) for name in readers
    }
    totals: dict[str, Counter[str]] = {name: Counter() for name in readers}
    seconds = dict.fromkeys(readers, 0.0)
    for row in rows(path, limit):
        each(row)
        for name, read in readers.items():
            start = time.process_time()
            markdown = read(row["html"], row.get("url") or "https://example.com/")
            seconds[name] += time.process_time() - start
            tokens = PARSER.parse(markdown)
            found = (
                web_figures(row, tokens)
                if "main_content" in row
                else docs_figures(row, tokens, totals[name])
            )
            for figure, value in found.items():
                figures[name][figure].append(value)
    return {
        name: summary(figures[name], totals[name]) | {"CPU seconds": seconds[name]}
        for name in readers
    }


def summary(figures: dict[str, list[float]], totals: Counter[str]) -> dict[str, float]:
    """Means of the figures, and the shares that are counted over all pages."""
    means = {name: fmean(values) for name, values in sorted(figures.items())}
    if kinds := [mean for name, mean in means.items() if name.startswith("F1 ")]:
        means["macro F1"] = fmean(kinds)
    if totals["code"]:
        means |= {
            "code exact": totals["code hit"] / totals["code"],
            "code precision": totals["code hit"] / max(1, totals["code got"]),
        }
    if totals["rows"]:
        means["table rows"] = totals["rows hit"] / totals["rows"]
        means["whole tables"] = totals["tables hit"] / totals["tables"]
    return means


def main() -> None:
    """Print the figures of both readers for each set."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("sets", nargs="+", type=Path)
    ask.add_argument("--limit", type=int, help="read only the first pages of each set")
    ask.add_argument("--json", action="store_true")
    args = ask.parse_args()
    for path in args.sets:
        result = measure(path, args.limit)
        if args.json:
            print(json.dumps({"set": path.name, **result}))
            continue
        print(f"{path.name:<34}{''.join(f'{name:>14}' for name in READERS)}")
        for figure in result["spadework"]:
            print(f"  {figure:<32}{''.join(f'{result[name][figure]:>14.4f}' for name in READERS)}")
        print(
            f"  {'speed, times trafilatura':<32}{result['trafilatura']['CPU seconds'] / result['spadework']['CPU seconds']:>14.1f}\n"  # noqa: E501
        )


if __name__ == "__main__":
    main()
