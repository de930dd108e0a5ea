"""RTF files: their text as it is shown, in whatever code page, with headings, lists, tables and
links; and faults that stay faults.
"""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import FetchError, TooLarge, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Link
from spadework.tools.extract.rtf import MAX_DEPTH, extract_rtf
from tests.tools.extract.files import RTF_HEAD, rtf

URL = "https://example.com/dues.rtf"


def markdown(body: bytes) -> str:
    return extract_rtf(rtf(body), URL).markdown


def test_what_a_file_says_about_itself():
    found = extract_rtf(rtf(rb"A boat pays 14 crowns.\par"), URL)
    assert (found.title, found.author, found.language, found.kind) == (
        "Harbour dues",
        "R. Penn",
        "en",
        "rtf",
    )
    assert found.published_at == datetime(2026, 2, 14, tzinfo=UTC)
    assert found.markdown == "A boat pays 14 crowns."


def test_headings_by_style_and_by_outline_level():
    body = (
        rb"\pard\s1 Dues\par\pard A boat pays.\par\pard\s2 Small\par\pard\outlinelevel2"
        rb" Smaller\par\pard Text\par"
    )
    assert markdown(body) == "# Dues\n\nA boat pays.\n\n## Small\n\n### Smaller\n\nText"
    assert (
        extract_rtf(
            rtf(rb"\pard\s1 Dues\par", RTF_HEAD.replace(rb"\title Harbour dues", rb"\title ")), URL
        ).title
        == "Dues"
    )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (rb"Caf\'e9", "Café"),
        (rb"\u8364?5", "€5"),
        (rb"\u8364\'805", "€5"),
        (rb"{\uc2\u8364\'a2\'e35}", "€5"),
        (rb"{\uc0\u8364 5}", "€5"),
        (rb"\u-10179?\u-8694?", "\U0001f60a"),
        (rb"\u-10179?", "�"),
        (rb"{\f2\'cf\'f0\'e8\'eb\'e8\'e2}", "Прилив"),
        (rb"{\f3\'92\'aa}", "潮"),
        (rb"{\f3\'83A}", "ア"),
        (b"{\\f2 \xcf\xf0\xe8}", "При"),
        (rb"\ldblquote a\rdblquote\emdash b\~c\_d\-e", "“a”—b\xa0c\u2011de"),
        (rb"a \{b\} \\c", r"a {b} \c"),
        (rb"seen {\v unseen} seen", "seen  seen"),
        (rb"a\v b\v0 c", "ac"),
        (rb"{\deleted gone}left", "left"),
        (rb"{\*\unknown gone}left", "left"),
        (rb"{\header top}{\footnote below}{\pict\wmetafile8 0102ff}left", "left"),
        (rb"{\pict\bin6 }}}{{{}left", "left"),
        (rb"left} behind", "left"),
    ],
)
def test_text_is_what_is_shown(written, shown):
    assert markdown(written + rb"\par") == shown


def test_nothing_becomes_markup_by_accident():
    assert (
        markdown(rb"# 5 is the number of the berth.\par 1. not a list\par")
        == "\\# 5 is the number of the berth.\n\n1\\. not a list"
    )


def test_lists_with_bullets_and_numbers_keep_their_depth():
    body = (
        rb"\pard{\listtext\f1\'b7\tab}\ls1\ilvl0 Small\par{\listtext o\tab}\ilvl1"
        rb" Smaller\par{\pntext\f0\'b7\tab}\ilvl0 Large\par"
        rb"\pard After.\par\pard{\listtext 1.\tab}First\par{\listtext 2.\tab}Second\par"
    )
    assert markdown(body) == "- Small\n    - Smaller\n- Large\n\nAfter.\n\n1. First\n2. Second"


def test_tables_are_tables():
    row = rb"\trowd\cellx1\cellx2\pard\intbl %s\cell %s\cell\row "
    body = (
        rb"Before\par "
        + row % (rb"Boat", rb"Dues")
        + row % (rb"small\par one", rb"14 | 15")
        + rb"\pard After\par"
    )
    assert (
        markdown(body)
        == "Before\n\n| Boat | Dues |\n| --- | --- |\n| small one | 14 \\| 15 |\n\nAfter"
    )


def test_lines_of_fixed_width_are_code():
    body = (
        rb"Run\par{\f1 def f():\par}{\f1     return 1\par}\pard and {\f1 x} too.\par\pard\s3 a ="
        rb" 1\line b = 2\par"
    )
    assert (
        markdown(body)
        == "Run\n\n```\ndef f():\n    return 1\n```\n\nand x too.\n\n```\na = 1\nb = 2\n```"
    )


def test_links_keep_their_targets():
    field = rb'See {\field{\*\fldinst{HYPERLINK "%s" }}{\fldrslt{\ul the list}}} now.\par'
    found = extract_rtf(rtf(field % b"https://example.com/list"), URL)
    assert found.markdown == "See [the list](https://example.com/list) now."
    assert found.links == (Link("https://example.com/list", "the list"),)
    assert markdown(field % b"file:///etc/passwd") == "See the list now."


def test_it_is_found_by_its_first_bytes_and_damage_is_named():
    assert (
        read_document(rtf(rb"A boat.\par"), media_type="application/msword", url=URL).markdown
        == "A boat."
    )
    with pytest.raises(Unreadable, match="damaged"):
        extract_rtf(b"{\\rt", URL)
    with pytest.raises(TooLarge, match="nested deeper"):
        extract_rtf(rtf(b"{" * (MAX_DEPTH + 1)), URL)


@pytest.mark.parametrize(
    "unit",
    [
        rb"{\field{\*\fldinst{",
        rb"\'e9",
        rb"\u8364?",
        rb"\trowd a\cell",
        rb"{\pict",
        rb"{}",
        rb"\bin9",
        rb"\par x",
    ],
)
def test_time_grows_no_faster_than_the_file(unit):
    started = time.process_time()
    with contextlib.suppress(TooLarge):
        extract_rtf(rtf(unit * (400_000 // len(unit))), URL)
    assert time.process_time() - started < 5


@given(
    st.lists(
        st.sampled_from(
            [
                b"{",
                b"}",
                b"\\",
                b"'",
                b"*",
                b"u8364",
                b"par",
                b"cell",
                b"row",
                b"f1",
                b"bin3",
                b" ",
                b"\xff",
                b"a",
                b"-",
            ]
        )
    )
)
def test_any_file_is_read_or_refused(pieces):
    try:
        found = extract_rtf(rtf(b"".join(pieces)), URL)
        found.markdown.encode("utf-8")
    except FetchError as refusal:
        assert str(refusal)
