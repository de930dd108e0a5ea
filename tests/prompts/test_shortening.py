"""What is too much in a request is met in one order, and the frame and the task are never cut."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from spadework.agents.evidence.expectation import Standard
from spadework.agents.report.material import Entry
from spadework.prompts import ESSENTIAL, Prompt, render, shorten_prompt
from spadework.values import Query, Topic

TOPIC = Topic(
    name="Springs",
    question="What are springs?",
    must_cover=("steel",),
    queries=(Query(text="springs"),),
)


def assessment(pages: int, known: int = 2, size: int = 3_000) -> Prompt:
    passages = [
        {
            "title": f"Page {n}",
            "heading": "",
            "domain": "a.example",
            "author": "",
            "date": "",
            "columns": "",
            "page": n,
            "first": True,
            "text": (f"Page {n} tells of springs. " * 300)[:size],
        }
        for n in range(1, pages + 1)
    ]
    quotes = [
        Entry(id=f"E{n}", about="Springs", quote=f"Quote {n} is proven of springs.")
        for n in range(1, known + 1)
    ]
    return render(
        "assessor",
        question="What about springs?",
        topic=TOPIC,
        known=quotes,
        passages=passages,
        standard=Standard(),
    )


def shown(message: str) -> dict[str, int]:
    """The passages that are left, and how long each is."""
    found = re.findall(
        r"^Page \d+, (Page \d+) .*?:\n<page_text>\n(.*?)\n</page_text>$",
        message,
        re.DOTALL | re.MULTILINE,
    )
    return {title: len(text) for title, text in found}


def quotes(message: str) -> list[str]:
    return re.findall(r"^Quote \d+ is proven of springs\.$", message, re.MULTILINE)


def test_what_is_worth_least_is_left_out_first_then_long_ones_are_cut_then_the_best_is_kept() -> (
    None
):
    prompt = assessment(6)
    full = len(prompt.user)
    assert shorten_prompt(prompt, full) == prompt.user
    one_less = shown(shorten_prompt(prompt, full - 100))
    assert one_less == dict.fromkeys([f"Page {n}" for n in range(1, 6)], 3_000)
    cut = shown(shorten_prompt(prompt, full - 3 * 3_100 - 1_000))
    assert list(cut) == ["Page 1", "Page 2", "Page 3"]
    assert ESSENTIAL <= min(cut.values()) <= max(cut.values()) < 3_000
    best = shorten_prompt(prompt, full - 5 * 3_100 - 2_000)
    assert list(shown(best)) == ["Page 1"]
    assert 0 < shown(best)["Page 1"] < ESSENTIAL
    assert quotes(best) == ["Quote 1 is proven of springs."]


def test_evidence_goes_after_the_pages_but_the_best_and_the_newest_of_it_first() -> None:
    prompt = assessment(3, known=4)
    left = shorten_prompt(prompt, len(assessment(1, known=2, size=ESSENTIAL).user))
    assert list(shown(left)) == ["Page 1"]
    assert quotes(left) == [f"Quote {n} is proven of springs." for n in (1, 2)]
    left = shorten_prompt(prompt, len(assessment(1, known=1, size=1).user) - 10)
    assert not shown(left)
    assert quotes(left) == ["Quote 1 is proven of springs."]


@given(st.integers(1, 8), st.integers(0, 4), st.integers(1, 6_000), st.integers(0, 30_000))
def test_the_frame_and_the_task_stand_however_little_room_there_is(
    pages: int, known: int, size: int, chars: int
) -> None:
    prompt = assessment(pages, known, size)
    made = shorten_prompt(prompt, chars)
    assert made.startswith(
        "Question: What about springs?\nTopic: Springs\nAsked of this topic: What are springs?"
    )
    assert made.endswith("\n\nJudge the topic.")
    assert made.count("<page_text>\n") == made.count("\n</page_text>")
    assert len(made) <= max(chars, len(assessment(1, min(known, 1), 1).user))
    titles = list(shown(made))
    assert titles == [f"Page {n}" for n in range(1, len(titles) + 1)], "the best, in their order"


def test_a_writer_keeps_whole_entries_and_its_task() -> None:
    evidence = [Entry(id=f"E{n}", about="a.example", quote=f"Fact {n}. " * 20) for n in range(1, 9)]
    prompt = render(
        "writer",
        question="Q?",
        asked_on="",
        names=(),
        language="en",
        wishes=(),
        answer="",
        heading="H",
        shows="",
        form="prose",
        columns=(),
        words=0,
        evidence=evidence,
        others=[],
    )
    made = shorten_prompt(prompt, len(prompt.user) // 2)
    ids = re.findall(r"^\[(E\d+)\] a\.example$", made, re.MULTILINE)
    assert ids == [f"E{n}" for n in range(1, len(ids) + 1)]
    assert 2 <= len(ids) <= 4
    assert made.endswith("</page_text>\n\nWrite the section.")


def test_numbered_sentences_are_never_left_out_where_their_quotes_are_cut() -> None:
    items = [
        {"sentence": f"Sentence {n}.", "ids": ["E1"], "code": False, "inferred": False, "note": ""}
        for n in range(5)
    ]
    evidence = [Entry(id=f"E{n}", about="", quote="A long quote. " * 50) for n in range(5)]
    prompt = render("verifier", items=items, evidence=evidence)
    made = shorten_prompt(prompt, len(prompt.user) // 3)
    assert len(made) <= len(prompt.user) // 3
    assert all(f"{n + 1}. Sentence {n}. [E1]" in made for n in range(5))
    assert made.endswith("Give the verdicts.")


@pytest.mark.parametrize("mark", ["\ufdd0", "\ufdd1", "\ufdd2"])
def test_a_page_cannot_say_what_is_a_part(mark: str) -> None:
    def made(text: str) -> Prompt:
        passage: dict[str, Any] = {
            "title": text,
            "heading": text,
            "domain": text,
            "author": text,
            "date": "",
            "columns": "",
            "page": 1,
            "first": True,
        }
        return render(
            "assessor",
            question=text,
            topic=TOPIC,
            known=[Entry(id="E1", about="", quote=text)],
            passages=[passage | {"text": text}],
            standard=Standard(),
        )

    assert made(f"a{mark}b{mark}c") == made("abc")
