"""The sentences of a text's prose end where a reader would end them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given

from spadework.tools.text.passages import blocks
from spadework.tools.text.sentences import closed, sentences
from tests.tools.text.markdownish import markdown


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["One here.", "Two there!", "Is it three?", "Yes."],
        [
            (
                "Dr. Smith met Mr. Jones of the U.S. Army, e.g. in v1.2 of Fig. 3 (i.e. No. 5) at"
                " 3.5 GHz."
            ),
            "Then he left.",
        ],
        ["They live in the U.S.", "The end was near."],
        ["He met Sen. Larry Stutts, Gov. Ivey and Rep. Mike Rogers.", "Pres. Ford did, too."],
        ["Charleston, W.Va. Mayor Amy Goodwin is from Mobile, Ala. and Ore.", "The end was near."],
        ["He did one rep.", "Larry fell ill.", "Doctors came.", "It has mass.", "Python has none."],
        ["It uses cats, dogs, etc.", "This is it."],
        ["J. R. R. Tolkien wrote it.", "He did."],
        ["See https://x.org/a.b?c=d. and a.py for more.", "Run it."],
        ["He said “Stop!” and went.", "“Really?” she asked.", "(Yes.)", "Good."],
        ["Wait... what?", "Nothing…", "So it is."],
        ["Both write INSERT ... ON CONFLICT … DO UPDATE.", "So it is."],
        ["**Bold one.**", "*Second.*", "Third [link.](http://x.org)", "Fourth."],
        ["Call `a.b. C` twice.", "`pip install x` does it.", "Yahoo! is a name."],
        ['See [Mr. X. Here](http://x.org/a "T. U") now.', "Next."],
        ["A sentence\nover two lines.", "Another\none."],
        ["我们使用人工智能。", "他们不用！"],
        ["It ended.", "In 2019 it began.", "2020 was next."],
        ["No stop at the end"],
        ["urllib3 is a client. of sorts.", "urllib3 does it.", "iOS has it."],
        ["pluggy is small.", "pluggy is old. and wise."],
    ],
)
def test_sentences_end_at_stops_that_end_them(parts: list[str]):
    text = "".join(part if part.endswith(("。", "！")) else f"{part} " for part in parts)
    assert split(f"Before.\n\n{text}"[9:]) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["Am 3. Oktober 1990 kam es.", "Im Jahr 1989.", "Die Mauer fiel.", "Danach war es so."],
        ["Das ist z. B. Berlin, d. h. die Stadt, ca. 3 km bzw. Nr. 5 usw.", "Das war alles."],
        ["Im 100. Jahr starb Ludwig XIV. König von Frankreich.", "Sie ist 30.", "Er ist 20."],
        ["Er sagte: „Ich gehe.“", "Dann ging er.", "»Ja.«", "Sie blieb."],
        ["M. Dupont habite av. Foch, en 52 av. J.-C. Rome.", "Mme. Curie a dit oui !", "Non."],
        ["« Il est parti. »", "Elle resta.", "« Ah\u202f!\u202f»", "Elle est là.", "Oui."],
        ["El Sr. López vive en EE. UU. desde 2010.", "¿Qué pasó?", "¡Nada!", "«Sí.»", "No fue."],
        ["Он родился в 1799 г. в Москве, на ул. Ленина, т. е. здесь.", "В 1837 г.", "Он умер."],
        ["Города, реки и т. д.", "Затем моря.", "«Да.»", "Он ушёл."],
        ["ذهب إلى المدرسة.", "هل عاد؟", "نعم!", "عاد."],
        ["यह भारत है।", "राजधानी दिल्ली है।", "क्या यह सच है?", "हाँ।"],
    ],
)
def test_sentences_end_as_their_language_ends_them(parts: list[str]):
    assert split(" ".join(parts)) == parts


@pytest.mark.parametrize(
    "parts",
    [
        ["彼は言った。", "「はい。」", "そして去った。", "本当？", "終わり。"],
        ["他说：“好。”", "然后走了。", "真的吗？", "是的！"],
    ],
)
def test_sentences_without_spaces_end_at_their_stops(parts: list[str]):
    assert split("".join(parts)) == parts


def test_an_ordinal_is_one_only_where_the_language_writes_them_so():
    text = "Platz 3. Oktober"
    assert [text[a:b] for a, b in sentences(text, "de")] == [text]
    assert [text[a:b] for a, b in sentences(text, "en")] == ["Platz 3.", "Oktober"]


def test_headings_code_and_tables_have_no_sentences():
    assert split(
        "# A title. Here\n\n```\nA b. C d.\n```\n\n| A. B | C. |\n|---|---|\n\nProse.\n\nTitle\n---"
    ) == ["Prose."]


def test_items_and_quoted_lines_have_their_own_sentences():
    text = (
        "- First item\n- Second. Third\n  goes on\n  1. Fourth\n\n> Quoted line one\n> goes on."
        " Next\n>\n> Last"
    )
    assert split(text) == [
        "First item",
        "Second.",
        "Third\n  goes on",
        "Fourth",
        "Quoted line one\n> goes on.",
        "Next",
        "Last",
    ]


def test_lines_broken_on_purpose_end_a_sentence():
    assert split("Name: X  \nAge: 5\\\nPlace: Y\nand Z") == ["Name: X", "Age: 5", "Place: Y\nand Z"]


@given(markdown)
def test_sentences_are_in_order_each_within_a_block_of_prose(text: str):
    prose = [block for block in blocks(text) if block.kind in ("paragraph", "list", "quote")]
    at = 0
    for start, end in sentences(text):
        assert at <= start < end
        assert any(block.start <= start and end <= block.end for block in prose)
        assert text[start:end] == text[start:end].strip()
        assert any(char.isalnum() for char in text[start:end])
        at = end


@pytest.mark.parametrize(
    "piece", [". ", ".", "! ?", "Mr. ", "a. B", " ", "\n ", '."', "[a.", "。", ". a"]
)
def test_hostile_text_takes_no_long_time(piece: str):
    before = time.process_time()
    sentences("x" + piece * (60_000 // len(piece)) + "x")
    assert time.process_time() - before < 2


@pytest.mark.parametrize("piece", ["This is it. ", "This (is it. "])
def test_many_sentences_are_joined_in_no_long_time(piece: str):
    text = piece * 5_000
    spans = sentences(text, "en")
    before = time.process_time()
    assert closed(text, spans) == spans
    assert time.process_time() - before < 2


def test_sentences_in_brackets_together_are_one():
    text = "It is so. (Not always. Not here.) It is (really so."
    shown = [text[slice(*span)] for span in closed(text, sentences(text))]
    assert shown == ["It is so.", "(Not always. Not here.)", "It is (really so."]
