"""A quote is found where its words stand, and nowhere else."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.tools.text.quotes import locate, normal
from tests.tools.text.markdownish import markdown

PAGE = """# Guide

The **quick brown fox**, as [they say](http://x.org/a_b "A title"), jumps
over the lazy dog's\u00a0back \u2014 \u201cquite\u201d well\u2026 It costs 1.5 million and 10,250 in all.

```python
value = call(*args,  **kwargs)  # two  spaces
```

> The committee agreed
> on the *final* text.

Use `pip install x` and snake\\_case names \\[12\\]; co\u00adop\u200beration is 5 * 3.
"""  # noqa: E501


def found(quote: str, text: str = PAGE) -> str | None:
    span = locate(quote, text)
    return span and text[slice(*span)]


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("over the lazy dog's\u00a0back", "over the lazy dog's\u00a0back"),
        (
            "The quick brown fox, as they say, jumps over",
            'The **quick brown fox**, as [they say](http://x.org/a_b "A title"), jumps\nover',
        ),
        (
            "quick brown fox, as they say",
            '**quick brown fox**, as [they say](http://x.org/a_b "A title")',
        ),
        ("they say, jumps over", '[they say](http://x.org/a_b "A title"), jumps\nover'),
        (
            'lazy dog\u2019s back - "quite" well...',
            "lazy dog's\u00a0back \u2014 \u201cquite\u201d well\u2026",
        ),
        ("  the  lazy\n dog's back  ", "the lazy dog's\u00a0back"),
        ("committee agreed on the final text.", "committee agreed\n> on the *final* text."),
        (
            "Use pip install x and snake_case names [12]",
            "Use `pip install x` and snake\\_case names \\[12\\]",
        ),
        ("**Use** `pip install x` and", "Use `pip install x` and"),
        ("cooperation is 5 * 3", "co\u00adop\u200beration is 5 * 3"),
        ("call(*args,  **kwargs)", "call(*args,  **kwargs)"),
        ("call(*args, **kwargs) # two spaces", "call(*args,  **kwargs)  # two  spaces"),
        ("Guide", "Guide"),
        ("fox", "fox"),
    ],
)
def test_a_quote_is_found_as_it_stands(quote: str, there: str):
    assert found(quote) == there


@pytest.mark.parametrize(
    "quote",
    [
        "the quick brown fox, as they say",  # another letter
        "over the lazy dogs back",  # a sign left out
        "The quick fox, as they say, jumps",  # a word left out
        "quick brown fox ... lazy dog",  # a gap
        "jumps over the lazy do",  # half a word
        "umps over the lazy dog",
        "It costs 1",  # half a number
        "5 million and 10,250",
        "1.5 million and 10",
        "cooperation is 53",  # a multiplication is no emphasis
        "http://x.org/a_b is not text",
        "laz",
        "dog  s",  # short ones must be exact
        "",
        "   ",
        "**",
    ],
)
def test_other_words_are_not_found(quote: str):
    assert locate(quote, PAGE) is None


def test_the_first_place_with_whole_words_counts():
    assert locate("a test case", "a test cases, a test case") == (14, 25)


def test_a_power_is_a_part_of_its_number():
    text = "The tank of the works holds 10^6 litres, or ^6 as it is written."
    assert locate("The tank of the works holds 10", text) is None
    assert locate("The tank of the works holds 10^6", text) == (0, 32)


def test_scripts_without_spaces_have_no_whole_words():
    assert (
        found("人工智能改变了我们的工作方式", "他说**人工智能**改变了我们的工作方式。")
        == "**人工智能**改变了我们的工作方式"
    )


_WORDS = st.lists(st.text("abcdeé中7", min_size=2, max_size=8), min_size=8, max_size=30)
_MARKS = st.sampled_from(
    ["{}", "{}", "**{}**", "*{}*", "[{}](http://x.org/a)", "`{}`", "~~{}~~", "_{}_"]
)
_SPACES = st.sampled_from([" ", "  ", "\n", "\u00a0", " \t", "\u200b "])


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", re.sub(r"\]\([^)]*\)|[*`~\[\]_]|\u200b", "", text))


@given(_WORDS, st.data())
def test_words_in_order_are_found_behind_marks_and_spaces(words: list[str], data: st.DataObject):
    text = "".join(data.draw(_MARKS).format(word) + data.draw(_SPACES) for word in words)
    first = data.draw(st.integers(0, 3))
    quote = words[first : data.draw(st.integers(first + 5, len(words)))]
    span = locate(data.draw(_SPACES).join(quote), text)
    assert span is not None
    assert _words(text[slice(*span)]) == quote


@given(_WORDS, st.data())
def test_a_changed_word_is_not_found(words: list[str], data: st.DataObject):
    text = " ".join(words)
    changed = data.draw(st.integers(0, len(words) - 1))
    assert locate(" ".join([*words[:changed], "other", *words[changed + 1 :]]), text) is None
    assert locate(" ".join([*words[:changed], *words[changed + 1 :], "and more"]), text) is None


@given(markdown, st.data())
def test_what_is_found_is_what_was_asked(text: str, data: st.DataObject):
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    span = locate(quote, text)
    if span and text[slice(*span)] != quote.strip():
        assert [c for c in normal(text[slice(*span)]) if c.isalnum()] == [
            c for c in normal(quote) if c.isalnum()
        ]


@given(markdown)
def test_a_normal_form_has_single_spaces_and_nothing_invisible(text: str):
    form = normal(text)
    assert form == form.strip()
    assert not re.search(r"\s\s|[^\S ]|[\u00ad\u200b\ufeff\u2019\u201c]|\.\.\.", form)


def test_fifty_quotes_in_a_long_page_take_less_than_a_second():
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghij", k=6)) for _ in range(30_000)]
    page = " ".join(
        f"**{w}**" if n % 9 == 0 else f"[{w}](http://x.org/{w})" if n % 50 == 0 else f"{w}\n"
        for n, w in enumerate(words)
    )
    quotes = [" ".join(words[at : at + 25]) for at in chance.sample(range(29_000), 40)] + [
        "words that are not there at all"
    ] * 10
    before = time.process_time()
    assert sum(locate(quote, page) is not None for quote in quotes) == 40
    assert time.process_time() - before < 1
    assert len(page) > 200_000
