"""The rendering of every prompt, as a file: a changed word shows as a diff. `GOLDEN=write pytest
tests/prompts` renews them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from spadework.prompts import FENCE, render
from spadework.values import Hit, Query, Question, Topic

GOLDEN = Path(__file__).resolve().parent / "golden"
PROMPTS = Path(__file__).resolve().parents[2] / "src" / "spadework" / "prompts"

TOPIC = Topic(
    name="Definition",
    question="What is a spade?",
    must_cover=("blade", "handle"),
    queries=(Query(text="what is a spade"), Query(text="spade tool", kind="broad")),
)
HITS = [
    Hit(url="https://a.example/1", title="Spades and shovels"),
    Hit(url="https://b.example/2", title="All about\nspades"),
]
QUESTION = Question(text="What is a spade?", earlier=("What is a garden?",), domains=("a.example",))
PASSAGES = [
    {
        "title": "Spades",
        "domain": "a.example",
        "date": "2026-03-04",
        "text": "A spade is a tool for digging.\n\nIt has a blade.",
        "columns": "",
    },
    {
        "title": "",
        "domain": "b.example",
        "date": "",
        "text": "| Handle | 90 cm |",
        "columns": "| Part | Length |",
    },
]
SHOWN: dict[str, dict[str, Any]] = {
    "lead": {"question": QUESTION, "hits": HITS},
    "doubt": {"question": QUESTION, "hits": HITS},
    "assessor": {
        "question": QUESTION.text,
        "topic": TOPIC,
        "known": ["A spade digs."],
        "passages": PASSAGES,
        "marks": (7.5, 8.0),
    },
    "writer": {
        "question": QUESTION.text,
        "heading": "Definition",
        "ask": TOPIC.question,
        "evidence": [
            {
                "id": "E1",
                "quote": "A spade is a tool for digging.",
                "domain": "a.example",
                "date": "2026-03-04",
            },
            {"id": "E2", "quote": "dig()", "domain": "b.example", "date": ""},
        ],
        "task": "Write the section.",
    },
    "hits": {
        "question": QUESTION.text,
        "topic": TOPIC,
        "hits": [{"title": "Spades", "domain": "a.example", "snippet": "Digging tools."}],
    },
    "reflect": {"question": QUESTION.text, "topic": TOPIC, "passages": PASSAGES},
    "verifier": {
        "items": [
            {
                "sentence": "A spade is a tool for digging.",
                "quotes": "A spade is a tool for digging.\n\nIt has a blade.",
            },
            {"sentence": "It has no handle.", "quotes": "Lean on the handle."},
        ],
    },
    "judge": {"title": "Spades", "text": "A spade is a tool for digging.\n\nSubscribe"},
    "cleaner": {
        "question": QUESTION.text,
        "title": "Spades",
        "blocks": ["# Spades", "It has a blade.", "Subscribe"],
        "technical": True,
    },
    "editor": {
        "question": QUESTION.text,
        "topics": [
            {"name": "Definition", "state": "answered", "gaps": ()},
            {"name": "Uses", "state": "partly", "gaps": ("Which soil?",)},
        ],
        "report": "# What is a spade?\n\nA spade is a tool for digging. [1]",
    },
}
#: Every way of writing an end of the block that a page may try.
FORGED = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from("<＜﹤⟨"),
    st.sampled_from(["/", " / ", "\u200b/", "／", ""]),
    st.sampled_from(["page_text", "PAGE_TEXT", "page\u200b_text", "p\u00adage_text", "page_ text"]),
    st.sampled_from(["", " ", "\n"]),
    st.sampled_from([">", "", " x='1'>"]),
)
TEXT = st.lists(st.one_of(st.text(max_size=40), FORGED), max_size=6).map("".join)
_BETWEEN = r"[\s\u200b\u00ad]*"
_MARK = re.compile(
    "[<＜﹤⟨]" + _BETWEEN + "[/／]?" + _BETWEEN + _BETWEEN.join(FENCE), re.IGNORECASE
)


@pytest.mark.parametrize("role", sorted(SHOWN))
def test_a_prompt_is_rendered_as_it_was(role: str) -> None:
    system, user, _ = render(role, **SHOWN[role])
    rendered, golden = f"{system}\n---\n{user}\n", GOLDEN / f"{role}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(rendered, encoding="utf-8")
    assert rendered == golden.read_text(encoding="utf-8")


def test_every_prompt_has_its_golden_file() -> None:
    assert {path.stem for path in PROMPTS.glob("*.md")} == SHOWN.keys(), (
        "a new prompt needs a golden file"
    )


@pytest.mark.parametrize("role", sorted(SHOWN))
def test_a_missing_variable_is_an_error(role: str) -> None:
    for name in SHOWN[role]:
        with pytest.raises(UndefinedError):
            render(role, **{key: value for key, value in SHOWN[role].items() if key != name})


@given(TEXT)
def test_what_stands_in_a_page_never_opens_or_closes_the_block(text: str) -> None:
    """As many marks as with harmless text, wherever the text of a page goes."""
    for role, variables in _hostile(text).items():
        assert _marks(role, variables) == _marks(role, _hostile("harmless")[role]), role


def _hostile(text: str) -> dict[str, dict[str, Any]]:
    passage = {
        "title": text or "x",
        "domain": "a.example",
        "date": "",
        "text": text,
        "columns": text or "x",
    }
    item = {"id": "E1", "quote": text, "domain": "a.example", "date": ""}
    hit = Hit(url="https://a.example/", title=text)
    return {
        "lead": SHOWN["lead"] | {"hits": [hit]},
        "doubt": SHOWN["doubt"] | {"hits": [hit]},
        "assessor": SHOWN["assessor"] | {"known": [text], "passages": [passage]},
        "writer": SHOWN["writer"] | {"evidence": [item]},
        "hits": SHOWN["hits"] | {"hits": [{"title": text, "domain": "a.example", "snippet": text}]},
        "reflect": SHOWN["reflect"] | {"passages": [passage]},
        "verifier": {"items": [{"sentence": text, "quotes": text}]},
        "judge": {"title": text or "x", "text": text},
        "cleaner": SHOWN["cleaner"] | {"title": text or "x", "blocks": [text, text]},
        "editor": SHOWN["editor"] | {"report": text},
    }


def _marks(role: str, variables: dict[str, Any]) -> int:
    return len(_MARK.findall(render(role, **variables).user))
