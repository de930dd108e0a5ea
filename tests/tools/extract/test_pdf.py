"""PDF files: their text in paragraphs, what they say about themselves, and faults that stay
faults.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from spadework.errors import Unreadable
from spadework.tools.extract.pdf.reader import MAX_PAGES, extract_pdf
from spadework.tools.extract.process import limit_reading
from tests.world.paper import pdf

URL = "https://example.com/dues.pdf"
DUES = (
    "A boat under ten metres pays 14 crowns a night, and a boat of ten metres or more pays 22"
    " crowns, as it has since the spring of 1998."
)
HOURS = (
    "The harbour office is open from six in the morning until six in the evening, except on"
    " holidays, when it closes at noon."
)


def test_lines_are_joined_to_paragraphs():
    found = extract_pdf(pdf(f"Harbour dues\n\n{DUES}\n\n{HOURS}"), URL)
    assert found.markdown.split("\n\n") == ["Harbour dues", DUES, HOURS]
    assert (found.title, found.kind) == ("Harbour dues", "pdf")
    assert found.published_at == datetime(2026, 2, 14, tzinfo=UTC)


def test_a_word_broken_at_the_end_of_a_line_is_made_whole():
    text = (
        "The light-\nhouse keeper writes the log-\nbook in pencil. It is a well-\nknown log, a"
        " well-known one."
    )
    assert (
        extract_pdf(pdf(text), URL).markdown
        == "The lighthouse keeper writes the logbook in pencil. It is a well-known log, a"
        " well-known one."
    )


def test_a_paragraph_goes_on_on_the_next_page():
    text = f"{DUES[:80]}\f{DUES[81:]}"
    assert extract_pdf(pdf(text), URL).markdown == DUES


def test_running_heads_and_page_numbers_are_left_out():
    pages = "\f".join(f"Harbour of Aldermere {n}\n\n{DUES}\n\n{n}" for n in range(1, 5))
    assert extract_pdf(pdf(pages), URL).markdown.split("\n\n") == [DUES] * 4


def test_lists_stay_lists_and_nothing_becomes_markup_by_accident():
    text = (
        "The harbour has a few rules, the same for everyone:\n- No fires.\n- No nets on the"
        " quay.\n\n# 5 is the number of the berth."
    )
    assert extract_pdf(pdf(text), URL).markdown.split("\n\n")[1:] == [
        "- No fires.",
        "- No nets on the quay.",
        "\\# 5 is the number of the berth.",
    ]


def test_pages_behind_the_limit_are_not_read():
    found = extract_pdf(
        pdf("\f".join(f"This is page {n} of the book." for n in range(MAX_PAGES + 5))), URL
    )
    assert f"page {MAX_PAGES - 1} of" in found.markdown
    assert f"page {MAX_PAGES} of" not in found.markdown


def test_a_pdf_is_read_as_far_as_the_time_goes():
    book = pdf("\f".join(f"This is page {n} of the book." for n in range(60)))
    with limit_reading(0.0):
        found = extract_pdf(book, URL)
    assert found.markdown.startswith("This is page 0 of the book.")
    assert found.markdown.endswith("… 59 further pages are not shown.")


def test_a_pdf_without_text_says_so():
    with pytest.raises(Unreadable, match="contains no text"):
        extract_pdf(pdf(" "), URL)


@pytest.mark.parametrize(
    "body",
    [b"", b"%PDF-1.4", b"%PDF-1.7\n" + b"junk" * 100, pdf(DUES)[:300], b"<html>not at all</html>"],
)
def test_a_damaged_pdf_is_unreadable(body):
    with pytest.raises(Unreadable, match="The PDF cannot be read"):
        extract_pdf(body, URL)


@given(st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 255)), min_size=1, max_size=30))
def test_a_pdf_with_wrong_bytes_is_read_or_unreadable(changes):
    body = bytearray(pdf(f"Harbour dues\n\n{DUES}\f{HOURS}"))
    for place, value in changes:
        body[place % len(body)] = value
    with contextlib.suppress(Unreadable):
        assert isinstance(extract_pdf(bytes(body), URL).markdown, str)


def test_many_threads_may_read_at_once():
    bodies = [pdf(f"Paper {n}\n\n{DUES}") for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda body: extract_pdf(body, URL), bodies))
    assert [one.title for one in found] == [f"Paper {n}" for n in range(40)]
