"""Bytes as text: every page has some, and none is an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.tools.extract.charset import decode

GERMAN = "Die Führung kostet fünf Kronen – täglich außer montags"
RUSSIAN = "Башня маяка открыта для гостей"


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        (GERMAN.encode(), "", GERMAN),
        (GERMAN.encode(), "utf-8", GERMAN),
        (GERMAN.encode("cp1252"), "", GERMAN),
        (GERMAN.encode("cp1252"), "iso-8859-1", GERMAN),
        (GERMAN.encode("cp1252"), "utf-8", GERMAN),
        (GERMAN.encode("cp1252"), "no-such-charset", GERMAN),
        (GERMAN.encode("utf-16"), "", GERMAN),
        (GERMAN.encode("utf-16"), "utf-8", GERMAN),
        (GERMAN.encode("utf-8-sig"), "iso-8859-1", GERMAN),
        (RUSSIAN.encode("cp1251"), "windows-1251", RUSSIAN),
        (RUSSIAN.encode("koi8-r"), "KOI8-R", RUSSIAN),
        ("日本語".encode("cp932"), "Shift_JIS", "日本語"),
        ("漢字 €".encode("gb18030"), "gb2312", "漢字 €"),
    ],
)
def test_text_comes_out_as_it_was_written(body, charset, text):
    assert decode(body, charset) == text


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="windows-1251">',
        "<meta charset=windows-1251>",
        "<META http-equiv=Content-Type content='text/html; charset=windows-1251'>",
        '<?xml version="1.0" encoding="windows-1251"?>',
    ],
)
def test_a_page_names_its_own_charset(head):
    assert decode((head + RUSSIAN).encode("cp1251")) == head + RUSSIAN


@pytest.mark.parametrize(
    "charset",
    [
        "punycode",
        "idna",
        "unicode_escape",
        "rot13",
        "zlib",
        "base64",
        "undefined",
        "utf-7",
        "\ud800",
        "a\0b",
    ],
)
def test_codecs_that_are_not_for_pages_are_not_used(charset):
    assert decode(b"plain + text", charset) == "plain + text"


@given(
    st.binary(max_size=300),
    st.sampled_from(["", "utf-8", "utf-16", "big5", "iso-8859-1", "euc-jp", "nonsense"]),
)
def test_any_bytes_have_a_text(body, charset):
    assert isinstance(decode(body, charset), str)
