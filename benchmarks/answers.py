"""What a reader gets without a model: `python benchmarks/answers.py DATA [--half dev|test] …`.

DATA is the folder with `web/sites/<site>/…` and `reading-web-dev.jsonl.xz`; the questions with
their known answers stand in `answers/questions.jsonl` (English; the pages of the unanswerable ones
are taken out) and `answers/languages.jsonl` (over Debian's translated manuals, where these packages
are installed: `answers/packages.txt`). Half of the questions is *dev*, half *test*, split by page.

Every question is asked of the product as it is, over one library of all pages, and of the program
that stands in answers_plain.py. `--figures` only prints what a run has written before.
`--paraphrases` compares the plans of the paraphrases with those of the questions; no page is read.
With `--other-words` they are those of 69 other questions of *dev*, on which no cue was chosen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import answers_paraphrases as rephrased
from answers_figures import as_text, figures
from answers_match import blocks, body, met
from answers_plain import PAGES, best_sentences
from answers_web import english, manuals

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.library.library import plan
from spadework.tools.text.facts import stems
from spadework.values import Result

HERE = Path(__file__).parent / "answers"
Row = dict[str, Any]


def questions(half: str, languages: bool) -> list[Row]:
    """The questions of a half, or those in other languages, all of which are test."""
    name = "languages.jsonl" if languages else "questions.jsonl"
    rows = [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if half == "all" or row["half"] == half]


def left_out() -> list[str]:
    """The pages of the unanswerable questions."""
    rows = questions("all", languages=False)
    return [page for row in rows if not row["answerable"] for page in row["pages"]]


def over(sites: list[Path], home: Path) -> Settings:
    """The settings of a run over these sites, in which nothing is kept for the next."""
    return Settings.load(home=home, search="library", library=sites, cache_mb=0, knowledge=False)


def indexed(data: Path, work: Path) -> Settings | None:
    """The settings in which the English questions are asked, None where no index of their pages is
    in `work`.
    """
    if not (work / "pages").exists():
        return None
    sites = english(data, work / "pages", left_out())
    settings = over([site.resolve() for site in sites], work / "home")
    return settings if plan(settings.library, settings.home).folder.exists() else None


def asked(row: Row, sites: list[str], home: str) -> Row:
    """What the product and the plain program make of one question."""
    return asyncio.run(_asked(row, [Path(site) for site in sites], Path(home)))


async def _asked(row: Row, sites: list[Path], home: Path) -> Row:
    settings = over(sites, home)
    began = time.perf_counter()
    result = await research(row["question"], settings)
    seconds = time.perf_counter() - began
    said = body(result.report)
    plain = await _plain(row["question"], settings)
    facts = {
        "report": _facts(row, said),
        "same_length": _facts(row, _cut(said, sum(map(len, plain)))),
        "plain": _facts(row, "\n\n".join(plain)),
        "plain_same_length": _facts(
            row, "\n\n".join(await _plain(row["question"], settings, said))
        ),
        "read": _facts(row, "\n\n".join(_texts(result))),
    }
    told = {"answered": bool(result.topics) and all(t.covered for t in result.topics)}
    told |= {"confidence": result.confidence, "topics": [t.name for t in result.topics]}
    pages = sum(any(s.url.endswith(_tail(page)) for s in result.sources) for page in row["pages"])
    kept = {key: row[key] for key in ("id", "half", "kind", "answerable", "question")}
    kept["language"] = row.get("language", "en")
    return (
        kept
        | told
        | {"facts": facts, "chars": len(said), "seconds": round(seconds, 2)}
        | {
            "gold_read": pages / len(row["pages"]),
            "read": len(result.sources),
            "report": result.report,
        }
    )


def _tail(page: str) -> str:
    """The end of a page's address in a library."""
    name = page.removeprefix("web/sites/").removeprefix("/usr/share/")
    return f"/{name}.html" if name.startswith("webdev/") else f"/{name}"


def _facts(row: Row, text: str) -> list[bool]:
    found = blocks(text)
    return [met(fact, found) for fact in row["facts"]]


def _texts(result: Result) -> list[str]:
    """The pages of a session as they were read."""
    folder = Path(result.session_dir) / "pages"
    return [page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md"))]


def _cut(text: str, most: int) -> str:
    """The beginning of a text, whole lines, of at most so many characters."""
    kept: list[str] = []
    for line in text.split("\n"):
        if kept and sum(map(len, kept)) + len(line) > most:
            break
        kept.append(line)
    return "\n".join(kept)


async def _plain(question: str, settings: Settings, as_long_as: str = "") -> list[str]:
    """The sentences of the plain program, over the same search and the same reading."""
    from spadework.tools.library.library import Library

    library = await Library.open(settings.library, home=settings.home)
    hits = await library.search(question, limit=PAGES)
    pages = [(await library.document(hit.url)).markdown for hit in hits]
    if as_long_as:
        return best_sentences(question, pages, stems, len(as_long_as))
    return best_sentences(question, pages, stems)


def main() -> None:
    """Ask, write down what came, print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("dev", "test", "all"), default="dev")
    parser.add_argument("--languages", action="store_true", help="those in other languages")
    parser.add_argument("--only", nargs="+", default=[], help="ids of questions")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("build/answers"))
    parser.add_argument("--to", type=Path, help="where what came is written")
    parser.add_argument("--figures", type=Path, help="print the figures of such a file")
    parser.add_argument("--paraphrases", action="store_true", help="compare the plans alone")
    parser.add_argument("--other-words", action="store_true", help="those in other_words.jsonl")
    options = parser.parse_args()
    if options.paraphrases:
        print(paraphrases(options))
        return
    if options.figures:
        lines = options.figures.read_text(encoding="utf-8").splitlines()
        print(as_text(figures([json.loads(line) for line in lines])))
        return
    rows = questions(options.half, options.languages)
    rows = [row for row in rows if not options.only or row["id"] in options.only]
    to = options.to or options.work / f"{options.half}{'-languages' * options.languages}.jsonl"
    print(as_text(figures(run(rows, options.data, options.work, to, options.jobs))))


def paraphrases(options: argparse.Namespace) -> str:
    """The figures of the paraphrases of a half, and of *dev* those that differ: *test* is not
    looked at.
    """
    rows = questions(options.half, languages=False)
    rows = with_other_words(rows) if options.other_words else rows
    settings = indexed(options.data, options.work)
    made = rephrased.paraphrased(rows, settings)
    hits = "a first broad search" if settings else f"no hits (no index in {options.work})"
    told = rephrased.as_text(rephrased.figures(rows, made))
    listed = [rephrased.as_list(made)] if options.half == "dev" else []
    return "\n".join([f"Plans of {options.half}, made with {hits}", told, *listed])


def with_other_words(rows: list[Row]) -> list[Row]:
    """The questions of *dev* that have no paraphrases of their own with those that were written
    when the cues stood.
    """
    lines = (HERE / "other_words.jsonl").read_text(encoding="utf-8").splitlines()
    said = {row["id"]: row["paraphrases"] for row in map(json.loads, lines)}
    return [row | {"paraphrases": said[row["id"]]} for row in rows if row["id"] in said]


def run(rows: list[Row], data: Path, work: Path, to: Path, jobs: int = 2) -> list[Row]:
    """Every question asked once, by some processes side by side; what came is written `to`."""
    home = str(work / "home")
    groups: dict[str, list[str]] = {}
    for language in {row.get("language", "en") for row in rows}:
        sites = english(data, work / "pages", left_out()) if language == "en" else manuals(language)
        groups[language] = [str(site.resolve()) for site in sites]
    tasks = [(row, groups[row.get("language", "en")], home) for row in rows]
    firsts = {row.get("language", "en"): (row, sites) for row, sites, _ in reversed(tasks)}
    for row, sites in firsts.values():  # builds the index
        asked(row, sites, home)
    to.parent.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=40) as pool:
        done = pool.starmap(asked, tasks, chunksize=4)
    lines = (json.dumps(made, ensure_ascii=False) + "\n" for made in done)
    to.write_text("".join(lines), encoding="utf-8")
    return done


if __name__ == "__main__":
    main()
