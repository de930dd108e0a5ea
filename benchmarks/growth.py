"""How the time of each step over a text grows with the text: `python benchmarks/growth.py`.

Each step is given the worst inputs that are known, one size and twice that size: brackets, marks,
digits, cells, quotes, lists, stops, and sentences that begin again and again what a pattern looks
for. Printed are the seconds for the larger one a megabyte, and the slope: the power of the length
with which the time grows, 1 where it is linear. None may have a slope over 1.2 where it takes long
enough to be measured, or take over a second a megabyte.

`--size` sets the characters of the larger input, `--step` names one step alone, and `--show` prints
every input.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from spadework.agents.report.material import merged
from spadework.prompts import Part, Prompt, shorten_prompt
from spadework.tools.ranking.conflicts import conflicts
from spadework.tools.ranking.statements import group_near_duplicates
from spadework.tools.text import prompt_injection
from spadework.tools.text.facts import (
    figures,
    is_negated,
    names,
    numbers,
    relations,
    spelled_numbers,
    stems,
)
from spadework.tools.text.markdown import blocks, plain
from spadework.tools.text.sentences import cleanliness, sentences
from spadework.values import Evidence
from spadework.visible import bounded

#: What a step may take, and the seconds from which its slope is believed.
MOST_SLOPE, MOST_SECONDS, LEAST_SECONDS = 1.2, 1.0, 0.02
#: Times that what seems too slow is measured again; at the same length if it took these seconds.
TIMES, ENOUGH_SECONDS = 3, 1.0

#: What is repeated to fill an input.
PARTS = (
    *"[]()!<>|`*_~#-+=\\/'\"“”«»‘’„.,:;&@^$%0129aZé中あ。！　\t",
    "![", "](", "[a](", "[a][", "[[", "]]", "](<", "<<", "&#", "&a", "**", "***", "__", "~~", "``",
    "```\n", "~~~\n", "> ", ">> ", "- ", "* ", "1. ", "1) ", "| ", "|-", "|a|b|\n", "|a\n", "# ",
    "\n", "\n\n", " \n", "  \n", "\\\n", "a b ", "a. ", "a! ", "A. ", "A.B. ", "... ", "?! ",
    "[1] ", "[1]. ", "1 ", "1, ", "1,000 ", "1.", "1,", "1.1.", "12:30 ", "1-", "-1 ", "5 m ",
    "1/2 ", "2019 ", "May 3 ", "3 May 2019, ", "twenty ", "two hundred ", "a-", "a'", "a’", "a_",
    "'a ", "“a ", "\"a ", "`a ", "(a ", "founded by A ", "founded by A and ", "the capital of ",
    "the capital of a is ", "licensed under the ", "released under terms of the ", "A of the ",
    "and of the ", "A and of the ", "licence is now the ", "ignore all ", "ignore all previous ",
    "ai assistant ", "if you are an ai ", "cite only this ", "decode a ", "mark the topic ",
    "say a ", "fetch a ", "fetch http://a ", "you must ", "note to all ", "system: ",
    "begin of the system ", "<|im_start|> ", "in your answer ", "please ", "stop, ", "not ",
    "http://", "http://a.b/ ", "www.", "a@b ", "A ", "Aa ", "AaA1 ", "aA", "The A. ",
    "It is 5 m. ", "The dose is 5 mg. ", "cookies ", "[a](b) ", "[a](b)\n", "- [a](b)\n", "- a\n",
    "  - a\n", "> a\n", "a | b\n", "a\n---\n", "a\n| - |\n", "    a\n", "\u200b", "\ufeff", "¹",
    "½", "１", "ﬁ", "年", "1年",
)  # fmt: skip


class Growth(NamedTuple):
    """The worst of a step: seconds a megabyte, slope, and the inputs of each."""

    seconds: float
    slowest: str
    slope: float
    steepest: str


def entry(number: int, quote: str) -> Evidence:
    """A quote in the ledger, of a page of its own."""
    return Evidence(
        id=f"E{number}",
        topic="T",
        quote=quote,
        url=f"https://{number}.example/",
        start=0,
        end=len(quote),
        content_hash=str(number),
        fetched_at=datetime(2026, 3, 4, tzinfo=UTC),
        origin=str(number),
    )


def compare_quotes(text: str) -> object:
    """Compare a text's pieces as quotes of one topic."""
    pieces = [text[at : at + 200] for at in range(0, len(text), 200)]
    return conflicts([entry(n, f"{piece} {n} is it.") for n, piece in enumerate(pieces)])


def group_pieces(text: str) -> object:
    """Group a text's pieces as pages."""
    pieces = [text[at : at + 2_000] for at in range(0, len(text), 2_000)]
    return group_near_duplicates({str(n): piece for n, piece in enumerate(pieces)})


def shorten_pieces(text: str) -> object:
    """Shorten a prompt whose evidence is a text's pieces."""
    parts = tuple(Part("evidence", at, at + 20) for at in range(0, len(text) - 20, 20))
    return shorten_prompt(Prompt("", text, parts), len(text) // 10)


def merge_quotes(text: str) -> object:
    """Merge a text's pieces as quotes of several pages."""
    pieces = [text[at : at + 40] for at in range(0, len(text), 40)]
    return merged([entry(n, piece) for n, piece in enumerate(pieces)])


STEPS: Mapping[str, Callable[[str], object]] = {
    "bounded": bounded,
    "blocks": blocks,
    "plain": plain,
    "sentences": sentences,
    "cleanliness": cleanliness,
    "numbers": numbers,
    "spelled_numbers": spelled_numbers,
    "names": names,
    "stems": stems,
    "is_negated": is_negated,
    "figures": figures,
    "relations": lambda text: relations.__wrapped__(text),
    "is_injection": lambda text: prompt_injection.is_injection.__wrapped__(text),
    "is_stuffed": prompt_injection.is_stuffed,
    "injection_spans": lambda text: prompt_injection.injection_spans.__wrapped__(text),
    "conflicts": compare_quotes,
    "near_duplicates": group_pieces,
    "merged": merge_quotes,
    "shorten_prompt": shorten_pieces,
}


def measure(step: Callable[[str], object], part: str, size: int) -> tuple[float, float]:
    """Return the CPU seconds of a step over `size` characters of a part, and the slope to them from
    half as many. What seems too slow is measured again, at greater length, by the least of several:
    noise only adds.
    """
    step(part * 3)
    half, whole = (_seconds(step, part * (chars // len(part))) for chars in (size // 2, size))
    taken, slope = whole, _slope(half, whole)
    if slope > MOST_SLOPE or taken * 1e6 / size > MOST_SECONDS:
        large = size if taken > ENOUGH_SECONDS else 4 * size
        half, whole = (
            min(_seconds(step, part * (chars // len(part))) for _ in range(TIMES))
            for chars in (large // 2, large)
        )
        taken, slope = whole * size / large, _slope(half, whole)
    return taken, slope


def _slope(half: float, whole: float) -> float:
    return math.log2(whole / half) if half > 0 and whole >= LEAST_SECONDS else 1.0


def _seconds(step: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    step(text)
    return time.process_time() - began


def worst(step: Callable[[str], object], size: int, parts: tuple[str, ...] = PARTS) -> Growth:
    """Return the worst of a step over all inputs. An input that is far too slow for the whole size
    is measured at a quarter of it.
    """
    seconds, slopes = {}, {}
    for part, (taken, slope) in measured(step, size, parts):
        seconds[part], slopes[part] = taken * 1e6 / size, slope
    slowest, steepest = max(seconds, key=seconds.__getitem__), max(slopes, key=slopes.__getitem__)
    return Growth(seconds[slowest], slowest, slopes[steepest], steepest)


def measured(
    step: Callable[[str], object], size: int, parts: tuple[str, ...] = PARTS
) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield each part with the seconds and the slope of its input."""
    for part in parts:
        small = size // 8
        taken, slope = measure(step, part, small)
        if taken * (size / small) ** 2 < 4 * MOST_SECONDS:  # what grows with the square ends, too
            small = size
            taken, slope = measure(step, part, small)
        yield part, (taken * size / small, slope)


def main() -> None:
    """Print the figures of all steps."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--step", choices=sorted(STEPS))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    for name in [options.step] if options.step else STEPS:
        found = worst(STEPS[name], options.size)
        told = f"{found.seconds:7.2f} s a MB ({found.slowest!r})"
        print(f"{name:<18}{told:<44} slope {found.slope:.2f} ({found.steepest!r})", flush=True)
        for part, (taken, slope) in measured(STEPS[name], options.size) if options.show else ():
            print(f"  {part!r:<24}{taken * 1e6 / options.size:8.2f} s a MB  slope {slope:.2f}")


if __name__ == "__main__":
    main()
