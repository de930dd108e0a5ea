"""What a reader gets without a model from files of his own and from news:
`python benchmarks/own.py [--questions FILE] [--over NAME …] [--set NAME …] [--first N] [--show]
[--jsonl OUT]`.

The material stands in `own/`: notes of a small company (Markdown, text, PDF, Word, CSV), news
articles, and notes in six languages. All of it is one library with one index. A question has a set
(own, unanswerable, false_premise, howto, count_table, language, news), its facts as
`answers_match.py` compares them, and the files that hold them; `nearby` is what could be mistaken
for the answer. `computed` facts stand in no file: they are counts and sums.

A report says *answered* where all its topics are covered, and rightly so where it holds all facts,
those of an `ordered` question in their order. What is compared is the body: the report before the
parts that tell of the run. Of the first three sentences a list or block of code is one, and so is
a row of a table (the whole table, where several rows are asked for).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from answers import Row, _cut, _facts, _plain, _texts
from answers_match import ABOUT_THE_RUN, body, in_order, opening

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.text.language import codes, language

HERE = Path(__file__).parent / "own"
SETS = ("own", "howto", "count_table", "language", "news", "unanswerable", "false_premise")
ROOM = 1_800
#: Kinds of questions whose answer is several rows.
OF_ROWS = ("filter", "list")
_ABOUT = ("disagreements", "not_found", "limits", "problems", "about", "sources")


def about_the_run() -> list[str]:
    """The headings of the parts that tell of the run, in every language."""
    said = [language(code).report for code in codes()]
    return [*ABOUT_THE_RUN, *(words[k].lower() for words in said for k in _ABOUT if k in words)]


async def asked(row: Row, settings: Settings, about: Sequence[str]) -> Row:
    """What the product, and for news the plain program, make of one question."""
    began = time.perf_counter()
    result = await research(row["question"], settings)
    seconds = round(time.perf_counter() - began, 2)
    said = body(result.report, about)
    held = _facts(row, said)
    right = bool(held) and all(held) and (not row.get("ordered") or in_order(row["facts"], said))
    read = _texts(result)
    made = row | {
        "answered": bool(result.topics) and all(topic.covered for topic in result.topics),
        "held": held,
        "right": right,
        "first": _facts(row, opening(said, row["kind"] in OF_ROWS)),
        "read": _facts(row, "\n\n".join(read)),
        "room": _facts(row, _cut(said, ROOM)),
        "chars": len(said),
        "seconds": seconds,
        "body": said,
    }
    if row["set"] == "news":
        plain = await _plain(row["question"], settings, said)
        made["plain"] = _facts(row, "\n\n".join(plain))
    return made


async def run(rows: Sequence[Row], places: Sequence[Path], home: Path, show: bool) -> list[Row]:
    """Every question asked once, over one index."""
    settings = Settings.load(
        home=home, search="library", library=list(places), cache_mb=0, knowledge=False
    )
    about, done = about_the_run(), []
    for row in rows:
        done.append(await asked(row, settings, about))
        if show:
            print(_shown(done[-1]))
    return done


def _shown(made: Row) -> str:
    """A question, what is claimed of it, which facts are held, and the body."""
    claim = "answered" if made["answered"] else "not answered"
    facts = f"{sum(made['held'])}/{len(made['held'])} facts, {sum(made['first'])} first"
    head = f"=== {made['id']}: {made['question']}\n--- {claim}; {facts}; {made['seconds']} s"
    return f"{head}\n{made['body']}\n"


def as_text(done: Sequence[Row]) -> str:
    """The figures of each set, then those of all answerable and unanswerable ones."""
    lines = [
        "| set | questions | facts held | in the first three sentences | answered said, right "
        "| characters, median | seconds, median |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in SETS:
        some = [made for made in done if made["set"] == name]
        lines += [_line(name, some)] if some else []
    can = [made for made in done if made["answerable"]]
    cannot = [made for made in done if not made["answerable"]]
    lines += [_line("all that can be answered", can)] if can else []
    lines += [_line("all that cannot", cannot)] if cannot else []
    news = [made for made in done if made["set"] == "news"]
    return "\n".join([*lines, *([_of_news(news)] if news else [])])


def _line(name: str, some: Sequence[Row]) -> str:
    facts, first = _sum(some, "held"), _sum(some, "first")
    said = [made for made in some if made["answered"]]
    right = sum(made["right"] for made in said)
    of = sum(len(made["facts"]) for made in some)
    chars, seconds = (median(made[key] for made in some) for key in ("chars", "seconds"))
    return (
        f"| {name} | {len(some)} | {facts} of {of} | {first} | {len(said)}, {right} "
        f"| {chars:.0f} | {seconds:.1f} |"
    )


def _of_news(news: Sequence[Row]) -> str:
    """The plain program at the length of each body, and what stays of the pages read."""
    on_pages = [both for made in news for both in zip(made["read"], made["room"], strict=True)]
    kept = [room for read, room in on_pages if read]
    return (
        f"news: the plain program holds {_sum(news, 'plain')} facts at equal length; of {len(kept)}"
        f" facts on pages read the first {ROOM:,} characters hold {sum(kept)}"
    )


def _sum(some: Sequence[Row], key: str) -> int:
    return sum(sum(made[key]) for made in some)


def main() -> None:
    """Ask, show, print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, default=HERE / "dev.jsonl")
    over = ("notes", "news", "languages")
    parser.add_argument("--over", nargs="+", default=over, help="folders of own/ in the library")
    parser.add_argument("--set", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--first", type=int, help="so many questions of each set")
    parser.add_argument("--show", action="store_true", help="question, claim and body of each")
    parser.add_argument("--jsonl", type=Path, help="where what came is written")
    options = parser.parse_args()
    lines = options.questions.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows = [
        r for name in options.set for r in [q for q in rows if q["set"] == name][: options.first]
    ]
    with tempfile.TemporaryDirectory() as home:
        places = [HERE / name for name in options.over]
        done = asyncio.run(run(rows, places, Path(home), options.show))
    if options.jsonl:
        made = (json.dumps(row, ensure_ascii=False) + "\n" for row in done)
        options.jsonl.write_text("".join(made), encoding="utf-8")
    print(as_text(done))


if __name__ == "__main__":
    main()
