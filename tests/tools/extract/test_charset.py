"""Bytes as text: every page has some, and none is an error."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.tools.extract import read_document
from spadework.tools.extract.document_kinds import decode, decode_body

GERMAN = "Die Führung kostet fünf Kronen – täglich außer montags"
GERMAN_LINES = (
    "Die Führung über die Dächer kostet fünf Kronen und dauert täglich außer montags eine Stunde. "
    "Größere Gruppen müssen früh genug Bescheid geben."
)
RUSSIAN_LINES = (
    "Башня маяка открыта для гостей каждый день, кроме понедельника. "
    "Лодки платят за стоянку в гавани четырнадцать крон в сутки."
)
POLISH_LINES = (
    "Wieża latarni morskiej jest otwarta codziennie oprócz poniedziałków. "
    "Łodzie płacą za postój w porcie czternaście koron, "
    "większe grupy powinny zgłosić się wcześniej."
)
GREEK_LINES = (
    "Ο πύργος του φάρου είναι ανοιχτός κάθε μέρα εκτός από τη Δευτέρα. "
    "Οι βάρκες πληρώνουν για τη στάση τους στο λιμάνι δεκατέσσερις κορώνες."
)
TURKISH_LINES = (
    "Deniz fenerinin kulesi pazartesi dışında her gün ziyarete açıktır. "
    "Tekneler limanda kalmak için günde on dört kron öder, büyük gruplar önceden haber vermelidir."
)
JAPANESE_LINES = (
    "灯台の塔は月曜日を除いて毎日見学できます。港に停泊する船は一日につき十四クローネを支払います。"
)
CHINESE_LINES = (
    "灯塔除星期一外每天开放参观。停泊在港口的船只每天需支付十四克朗，人数较多的团体请提前通知。"
)
KOREAN_LINES = (
    "등대의 탑은 월요일을 제외하고 매일 관람할 수 있습니다."
    " 항구에 머무는 배는 하루에 십사 크로네를 냅니다."
)
RUSSIAN = "Башня маяка открыта для гостей"
#: Text of a few lines in what pages of its language were written in.
WRITTEN = {
    "cp1251": RUSSIAN_LINES,
    "koi8-r": RUSSIAN_LINES,
    "cp1252": GERMAN_LINES,
    "iso8859-2": POLISH_LINES,
    "cp1253": GREEK_LINES,
    "cp1254": TURKISH_LINES,
    "shift_jis": JAPANESE_LINES,
    "euc-jp": JAPANESE_LINES,
    "iso2022_jp": JAPANESE_LINES,
    "gb18030": CHINESE_LINES,
    "euc-kr": KOREAN_LINES,
}
#: What they are declared to be, and are not.
SAID = ("utf-8", "iso-8859-1", "windows-1252", "koi8-r", "euc-kr")


@pytest.mark.parametrize("coding", WRITTEN)
def test_letters_tell_how_they_are_coded_where_nobody_says_it(coding):
    text = WRITTEN[coding]
    assert decode_body(text.encode(coding)).text == text
    page = f"<html><head><title>x</title></head><body><p>{text}</p></body></html>"
    found = read_document(page.encode(coding), media_type="text/html", url="https://e.example/")
    assert text in found.markdown


@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("coding", WRITTEN)
def test_letters_tell_how_they_are_coded_where_something_else_is_said(coding, said):
    text = WRITTEN[coding]
    assert decode(text.encode(coding), said) == text
    page = f'<meta charset="{said}"><p>{text}</p>'
    assert decode(page.encode(coding)) == page


def test_one_broken_letter_does_not_spoil_a_page_in_utf_8():
    body = RUSSIAN_LINES.encode() + b" \xd0 " + GERMAN_LINES.encode()
    assert decode(body) == f"{RUSSIAN_LINES} \ufffd {GERMAN_LINES}"


def test_letters_that_tell_nothing_are_said_to_be_doubtful():
    body = b"Kaf\xe9 \xa4\xb7\xfb\xa5 \x9c\xb1"
    found = read_document(body, media_type="text/plain", url="https://e.example/a.txt")
    assert found.markdown.endswith("some characters may be wrong.\n")


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
