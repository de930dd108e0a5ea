"""Whether the documentation that is installed with Python answers what is asked of it:
`python benchmarks/installed.py DATA [--half dev|test] [--show] [--reports|--everyday]`.

DATA holds `web/sites/python`, the pages of Python's manual, which the library does not hold: it
reads docstrings. The manual's first sentences of functions that tell what to do ("Read a TOML
file.") are asked as questions ("How do I read a TOML file in Python?"), at most two a module, drawn
with a seed; modules are split in two halves by a hash of their names. Right is a document of that
module. Printed are the shares of questions with the module's document first and among the first
five, and what is lost if only the packages are read that are related to the question without "in
Python": the same shares, of all hits those that stay, and the packages that are read.

`--reports` asks for whole reports, in four ways: the task alone, "in Python", in the function's
module, and in another module. Printed are the reports that name the function with its arguments,
those that do so in the first FIRST_CHARS characters, those that are called answers, and of these
the ones that name it. A report on another module should not be called an answer.

`--everyday` asks 50 everyday how-tos (`everyday.jsonl`). Printed are the reports that hold a name
that does the task, those that do so in the first FIRST_CHARS characters, and the claims.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import lxml.html
from answers_match import body

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.library.full_text import needed_words, related_packages
from spadework.tools.library.installed import installed_packages
from spadework.tools.library.library import Library

#: Questions of a module, hits that are looked at, and the words that a question has.
MOST, FIRST = 2, 5
EVERYDAY = Path(__file__).with_name("everyday.jsonl")
#: The characters of a report in which its answer should stand.
FIRST_CHARS = 500
LEAST_WORDS, MOST_WORDS = 4, 14
_SENTENCE = re.compile(r"^[A-Z][a-z]+ [^.;:(]+(?=\.(?:\s|$))")
#: Sentences that tell no task.
_NO_TASK = re.compile(r"^(?:Returns?|True|This|The|A|An|Same|Like|Deprecated|Raised?|If|These)\b")


def questions(folder: Path, half: str) -> Iterator[tuple[str, str, str]]:
    """Every task ("open a file") with its module and function, in the order of modules."""
    for path in sorted((folder / "library").glob("*.html")):
        module = path.stem
        odd = hashlib.sha256(module.encode()).digest()[0] % 2
        if (half == "test") != bool(odd):
            continue
        tasks = sorted(set(_tasks(path, module)))
        drawn = random.Random(f"installed {module}").sample(tasks, min(MOST, len(tasks)))
        yield from ((task[0].lower() + task[1:], module, name) for task, name in drawn)


def _tasks(path: Path, module: str) -> Iterator[tuple[str, str]]:
    tree = lxml.html.fromstring(path.read_bytes())
    for name, text in zip(
        tree.xpath("//dl[contains(@class, 'function')]/dt[1]/@id"),
        tree.xpath("//dl[contains(@class, 'function')][dt/@id]/dd[1]"),
        strict=False,
    ):
        first = " ".join(text.text_content().split())
        found = _SENTENCE.match(first)
        if (
            name.startswith(f"{module}.")
            and found
            and not _NO_TASK.match(first)
            and LEAST_WORDS <= len(found[0].split()) <= MOST_WORDS
        ):
            yield found[0], name.rpartition(".")[2]


def of_module(url: str, title: str, module: str) -> bool:
    """Whether a document is one of the standard library's about a module."""
    name = title.partition(":")[0].split(",")[0]
    return url.startswith("library://python-") and (f"{name}.").startswith(f"{module}.")


def _is_read(url: str, packages: Collection[str]) -> bool:
    name = re.sub(r"-\d.*", "", url.removeprefix("library://").partition("/")[0])
    return name.replace("_", "-") in packages or "/README" in url


async def main(options: argparse.Namespace) -> None:
    """Ask every question and print what was found."""
    library = await Library.open([], home=options.home)
    ranks, related, kept, packages = [], [], [], []
    for task, module, _ in questions(options.data / "web" / "sites" / "python", options.half):
        question = f"How do I {task} in Python?"
        hits = await library.search(question, limit=FIRST)
        found = [of_module(hit.url, hit.title, module) for hit in hits]
        ranks.append(found.index(True) if any(found) else FIRST)
        unnamed = question.removesuffix(" in Python?") + "?"
        read = related_packages(needed_words(unnamed))
        hits = await library.search(unnamed, limit=FIRST)
        found = [of_module(hit.url, hit.title, module) and "python" in read for hit in hits]
        related.append(found.index(True) if any(found) else FIRST)
        kept += [_is_read(hit.url, read) for hit in hits]
        packages.append(len(read))
        if options.show and ranks[-1]:
            print(f"{module}: {question}\n    {[hit.title[:50] for hit in hits[:3]]}")
    asked = len(ranks)
    first, among = (sum(rank < most for rank in ranks) / asked for most in (1, FIRST))
    print(f"{options.half}: {asked} questions, first {first:.3f}, among {FIRST} {among:.3f}")
    first, among = (sum(rank < most for rank in related) / asked for most in (1, FIRST))
    print(
        f"related packages, without 'in Python': first {first:.3f}, among {FIRST} {among:.3f},"
        f" of the first {FIRST} hits {sum(kept) / len(kept):.3f} stay,"
        f" packages {sum(packages) / asked:.1f} of {len(installed_packages()) + 1}"
    )
    await library.close()


async def reports(options: argparse.Namespace) -> None:
    """Ask for a whole report of every task, in each way, and print the figures."""
    asked = list(questions(options.data / "web" / "sites" / "python", options.half))
    modules = sorted({module for _, module, _ in asked})
    for way in ("alone", "in Python", "in the module", "in another module"):
        named = first = claimed = right = 0
        for task, module, name in asked:
            other = modules[(modules.index(module) + len(modules) // 2) % len(modules)]
            where = {"alone": "", "in Python": " in Python", "in the module": f" in {module}"}
            settings = Settings.load(search="library", home=options.home, iterations=1)
            question = f"How do I {task}{where.get(way, f' in {other}')}?"
            result = await research(question, settings)
            text = body(result.report)
            called = re.compile(rf"(?<!\w){re.escape(name)}\(")
            answered = all(topic.covered for topic in result.topics)
            named += bool(called.search(text))
            first += bool(called.search(text.rpartition("##")[2][:FIRST_CHARS]))
            claimed += answered
            right += answered and bool(called.search(text))
            if options.show:
                print("answered" if answered else "open", bool(called.search(text)), question)
        print(
            f"{options.half}, {way}: of {len(asked)} reports {named} name the function, {first} at"
            f" the beginning, {claimed} are called answers, {right} of these name it",
            flush=True,
        )


async def everyday(options: argparse.Namespace) -> None:
    """Ask the everyday how-tos, and print the figures."""
    rows = [json.loads(line) for line in EVERYDAY.read_text(encoding="utf-8").splitlines()]
    held = first = claimed = 0
    for row in rows:
        settings = Settings.load(search="library", home=options.home, iterations=1)
        result = await research(row["question"], settings)
        text = body(result.report)
        held += bool(re.search(row["does"], text))
        first += bool(re.search(row["does"], text.rpartition("##")[2][:FIRST_CHARS]))
        claimed += (answered := all(topic.covered for topic in result.topics))
        if options.show or answered:
            print("answered" if answered else "open", row["question"], "|", *text.split()[:40])
    print(f"of {len(rows)}: {held} hold the name, {first} at the beginning, {claimed} are claimed")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=("dev", "test"), default="dev")
    parser.add_argument("--home", type=Path, required=True, help="where the index is made")
    parser.add_argument("--show", action="store_true", help="print what was not found first")
    parser.add_argument("--reports", action="store_true", help="ask for whole reports")
    parser.add_argument("--everyday", action="store_true", help="ask everyday how-tos")
    options = parser.parse_args()
    asyncio.run((reports if options.reports else everyday if options.everyday else main)(options))
