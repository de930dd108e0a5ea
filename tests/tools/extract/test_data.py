"""Tables of data, XML, feeds and e-mails."""

from __future__ import annotations

import struct
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.markdown_writer import MAX_ROWS
from spadework.tools.text.facts import moment
from tests.tools.extract.files import storage

URL = "https://example.com/feed"


def read(text: str | bytes, media_type: str, url: str = URL) -> Extracted:
    return read_document(
        text.encode() if isinstance(text, str) else text, media_type=media_type, url=url
    )


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_a_table_of_data_is_a_table_whatever_parts_its_cells(sign):
    text = f'Boat{sign}Dues\r\n"a ""small"" one, 5;3 m"{sign}14\r\n\r\nship{sign}\r\n'
    markdown = '| Boat | Dues |\n| --- | --- |\n| a "small" one, 5;3 m | 14 |\n| ship |  |'
    assert read(text, "text/csv", URL + "/boats.csv") == Extracted(
        title="boats.csv", markdown=markdown, kind="csv"
    )


def test_a_table_of_data_is_known_by_its_ending_too_and_cut():
    rows = "".join(f"{n},x\n" for n in range(MAX_ROWS + 10))
    lines = read(rows, "text/plain", URL + ".csv").markdown.split("\n")
    assert lines[-3:] == [f"| {MAX_ROWS - 1} | x |", "", "… 10 further rows are not shown."]


@given(st.text(st.sampled_from('a1,;\t|"\n\r\0'), max_size=200))
def test_any_text_is_a_table(text):
    assert isinstance(read("a" * 2_000 + text, "text/csv"), Extracted)


def test_xml_stays_as_it_was_written_and_is_indented_where_it_was_not():
    text = "<dues>\n <boat>14</boat>\n</dues>"
    assert read(text, "text/xml", URL + "/dues.xml") == Extracted(
        title="dues.xml", markdown=f"```xml\n{text}\n```", kind="xml"
    )
    packed = "<dues>" + "<boat>14</boat>" * 100 + "</dues>"
    assert read(packed, "application/xml").markdown.startswith(
        "```xml\n<dues>\n  <boat>14</boat>\n  <boat>"
    )


def test_xml_of_entities_does_not_grow():
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    found = read(
        f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">{entities}]>\n<a>&e9;</a>', ""
    )
    assert len(found.markdown) < 1_000
    with pytest.raises(Unreadable, match="damaged"):
        read(f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">{entities}]>\n<a b="&e9;"/>', "")


def test_xml_of_too_many_tags_is_refused():
    with pytest.raises(TooLarge, match="tags and attributes"):
        read("<a>" + "<b/>" * 2_100_000 + "</a>", "text/xml")


def test_what_is_no_xml_is_refused():
    with pytest.raises(Unreadable, match="damaged"):
        read("not XML", "application/xml")


RSS = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>Harbour news</title><link>https://example.com/</link>
<description>What &lt;b&gt;happens&lt;/b&gt; at the quay.</description><language>en-gb</language>
<item><title>Tides &amp;amp; dues</title><link>https://example.com/tides</link><pubDate>Sat, 14 Feb 2026 10:00:00 +0100</pubDate>
<description>Short.</description><content:encoded><![CDATA[<p>The <b>tide</b> rose.</p><ul><li>twice</li></ul>]]></content:encoded></item>
<item><title>Undated</title><description>Nothing else.</description></item></channel></rss>"""  # noqa: E501

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Hafen</title><author><name>R. Penn</name></author>
<entry><title type="html">Die Flut</title><link rel="self" href="/self"/><link href="/flut"/><updated>2026-02-14T09:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Sie kam.</p></div></content></entry></feed>"""  # noqa: E501


@pytest.mark.parametrize(
    "media_type",
    [
        "application/rss+xml",
        "text/xml",
        "application/xml",
        "",
        "text/html",
        "application/octet-stream",
    ],
)
def test_the_entries_of_a_feed_are_sections(media_type):
    found = read(RSS, media_type)
    assert (
        found.markdown
        == "# Harbour news\n\nWhat **happens** at the quay.\n\n## Tides & dues\n\n2026-02-14 ·"
        " <https://example.com/tides>\n\nThe **tide** rose.\n\n- twice\n\n## Undated\n\nNothing"
        " else."
    )
    assert found.published_at == datetime(2026, 2, 14, 9, tzinfo=UTC)
    assert found.links == (Link("https://example.com/tides", "Tides & dues"),)
    assert (found.title, found.language, found.kind) == ("Harbour news", "en", "feed")


def test_an_atom_feed_is_read_alike():
    found = read(ATOM, "application/atom+xml")
    assert (
        found.markdown
        == "# Hafen\n\n## Die Flut\n\n2026-02-14 · <https://example.com/flut>\n\nSie kam."
    )
    assert (found.author, found.language) == ("R. Penn", "de")


def test_a_link_of_a_feed_leads_to_the_web():
    assert (
        read(
            "<rss><channel><item><title>A</title><link>javascript:alert(1)</link></item></channel></rss>",
            "",
        ).links
        == ()
    )


@given(
    st.text(max_size=40)
    | st.from_regex(r"\w{3}, \d{1,9} \w{3} \d{1,9} \d\d:\d\d:\d\d [+-]\d{4,9}", fullmatch=True)
)
def test_any_text_is_a_date_or_none(text):
    found = moment(text)
    assert found is None or found.tzinfo is not None


MAIL = b"""From: =?utf-8?q?R=C3=BCdiger?= Penn <penn@example.com>
Subject: =?utf-8?b?RmzDvHNzZQ==?=
 and dues
Date: Sat, 14 Feb 2026 10:00:00 +0100
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="b"

--b
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

A boat pays 14 =E2=82=AC a night.

--b
Content-Type: text/html

<p>Not this.</p>
--b--
"""


@pytest.mark.parametrize(
    ("media_type", "url"), [("message/rfc822", URL), ("text/plain", URL + "/a.eml")]
)
def test_a_mail_is_its_plain_text(media_type, url):
    found = read(MAIL, media_type, url)
    assert (
        found.markdown
        == "# Flüsse and dues\n\nRüdiger Penn <penn@example.com> · 2026-02-14\n\nA boat pays 14 € a"
        " night."
    )
    assert (found.title, found.kind) == ("Flüsse and dues", "mail")
    assert found.published_at == datetime(2026, 2, 14, 9, tzinfo=UTC)


def test_a_mail_in_html_alone_is_read_like_a_page():
    text = "The winter tide reached the second step of the harbour office on eleven days. " * 5
    mail = (
        "Subject: Tides\nContent-Type:"
        f" text/html\n\n<html><body><article><p>{text}</p></article></body></html>"
    )
    assert "second step of the harbour office" in read(mail, "message/rfc822").markdown


def test_an_attachment_is_not_opened():
    mail = "Subject: Tides\nContent-Type: text/plain\nContent-Disposition: attachment\n\nsecret"
    assert "secret" not in read(mail, "message/rfc822").markdown


def test_a_mail_nested_without_end_is_refused_or_read():
    mail = "Content-Type: message/rfc822\n\n" * 5_000
    try:
        assert isinstance(read(mail, "message/rfc822"), Extracted)
    except Unreadable as refusal:
        assert "damaged" in str(refusal)


def test_markup_in_a_title_takes_nothing_away():
    entry = (
        "<entry><title>High <i>tides</i> today</title><summary>A <b>boat</b>"
        " pays.</summary></entry>"
    )
    feed = f"<feed><title>Tides <b>and</b> dues</title>{entry}</feed>"
    found = read(feed, "application/atom+xml")
    assert found.title == "Tides and dues"
    assert found.markdown == "# Tides and dues\n\n## High tides today\n\nA boat pays."


def properties(sent: datetime) -> bytes:
    ticks = int((sent - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
    return bytes(32) + struct.pack("<IIQ", 0x0039_0040, 6, ticks)


OUTLOOK = {
    "__substg1.0_0037001F": "Harbour dues".encode("utf-16-le"),
    "__substg1.0_0C1A001F": "R. Penn".encode("utf-16-le"),
    "__substg1.0_5D01001F": "penn@quay.example".encode("utf-16-le"),
    "__properties_version1.0": properties(datetime(2026, 2, 14, 9, tzinfo=UTC)),
    "__attach_version1.0_#00000000/__substg1.0_3707001F": "dues.pdf".encode("utf-16-le"),
}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("1000001F", "A boat pays 14 crowns — a day.\r\n".encode("utf-16-le")),
        ("1000001E", "A boat pays 14 crowns — a day.\r\n".encode("cp1252")),
        ("10130102", "<p>A boat pays 14 crowns — a day.</p>".encode()),
    ],
)
def test_a_message_of_outlook_is_an_email(name: str, body: bytes):
    message = storage({**OUTLOOK, f"__substg1.0_{name}": body})
    found = read_document(message, media_type="application/octet-stream", url="https://x.example/m")
    assert found.markdown == (
        "# Harbour dues\n\nR. Penn <penn@quay.example> · 2026-02-14\n\n"
        "A boat pays 14 crowns — a day.\n\n… Not opened: dues.pdf."
    )
    assert (found.title, found.author) == ("Harbour dues", "R. Penn <penn@quay.example>")
    assert found.published_at == datetime(2026, 2, 14, 9, tzinfo=UTC)


def test_a_message_of_outlook_that_is_not_read_says_why():
    with pytest.raises(Unreadable, match="only as compressed RTF"):
        read_document(
            storage({**OUTLOOK, "__substg1.0_10090102": b"x"}), media_type="", url="m.msg"
        )
    whole = storage(OUTLOOK)
    with pytest.raises(Unreadable, match="The Outlook message is damaged"):
        read_document(whole[:30] + b"\xff" + whole[31:], media_type="", url="m.msg")
