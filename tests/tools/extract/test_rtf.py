"""RTF files: their text, in whatever code page, with lists and tables; and faults that stay
faults.
"""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, strategies as st

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.office.rtf import extract_rtf
from tests.tools.extract.files import rtf

URL = "https://example.com/dues.rtf"


def markdown(body: bytes) -> str:
    return extract_rtf(rtf(body), URL).markdown


def test_what_a_file_says_about_itself():
    found = extract_rtf(rtf(rb"A boat pays 14 crowns.\par"), URL)
    assert (found.title, found.author, found.kind) == ("Harbour dues", "R. Penn", "rtf")
    assert found.markdown == "A boat pays 14 crowns."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (rb"Caf\'e9", "Café"),
        (rb"\u8364\'805", "€5"),
        (rb"\u-10179?\u-8694?", "\U0001f60a"),
        (rb"{\f2\'cf\'f0\'e8\'eb\'e8\'e2}", "Прилив"),
        (rb"{\f3\'92\'aa}", "潮"),
        (rb"seen {\v unseen} seen", "seen seen"),
        (rb"{\header top}{\footer below}{\pict\wmetafile8 0102ff}left", "left"),
        (rb"left} behind", "left"),
        (
            rb'See {\field{\*\fldinst{HYPERLINK "https://a.b"}}{\fldrslt{\ul the list}}}.',
            "See the list.",
        ),
        (rb"# 5 is the number.\par 1. not a list", "\\# 5 is the number.\n\n1\\. not a list"),
    ],
)
def test_text_is_what_is_shown(written, shown):
    assert markdown(written + rb"\par") == shown


def test_notes_comments_and_text_boxes_stand_behind_the_text():
    note = rb"{\super\chftn}{\footnote\pard{\super\chftn} Of {\i 1984}.}"
    box = rb"{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt\pard In a box.\par}}}"
    shown = markdown(rb"It is long." + note + rb" It{\*\annotation\chatn Is it?} is old.\par" + box)
    said = ["It is long.[1] It is old.", "[1] Of 1984.", "Comment: Is it?", "In a box."]
    assert shown == "\n\n".join(said)


def test_lists_and_tables_stay_what_they_are():
    row = rb"\trowd\cellx1\cellx2\pard\intbl %s\cell %s\cell\row "
    body = rb"{\listtext\f1\'b7\tab}Small\par{\listtext 2.\tab}Large\par Before\par "
    body += row % (b"Boat", b"Dues") + row % (b"small", b"14") + rb"\pard After\par"
    assert markdown(body) == (
        "- Small\n2. Large\n\nBefore\n\n| Boat | Dues |\n| --- | --- |\n| small | 14 |\n\nAfter"
    )


def test_it_is_found_by_its_first_bytes_and_damage_is_named():
    found = read_document(rtf(rb"A boat.\par"), media_type="application/msword", url=URL)
    assert found.markdown == "A boat."
    with pytest.raises(Unreadable, match="damaged"):
        extract_rtf(b"{\\rt", URL)
    with pytest.raises(Unreadable, match="no text"):
        extract_rtf(rtf(b""), URL)


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
        rb"{\footnote x}",
        rb"{\footnote",
    ],
)
def test_time_grows_no_faster_than_the_file(unit):
    started = time.process_time()
    with contextlib.suppress(FetchError):
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
