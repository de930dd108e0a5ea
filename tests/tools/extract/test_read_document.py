"""Any document: the right reader by its bytes, its type and its name, and a refusal that names what
is not read.
"""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, strategies as st

from spadework.errors import FetchError, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.document_kinds import kind_of
from spadework.tools.extract.extracted import Extracted
from tests.tools.extract.files import docx, epub, jpeg, odf, png, pptx, rtf, tarred, xlsx, zipped
from tests.world.paper import pdf

HTML = (
    b"<!doctype html><title>Tides</title><article><p>"
    + b"The winter tide reached the second step of the harbour office. " * 4
    + b"</p></article>"
)
URL = "https://example.com/file"


@pytest.mark.parametrize(
    ("body", "media_type", "url", "reader", "language"),
    [
        (HTML, "text/html", URL, "html", ""),
        (HTML, "application/xhtml+xml", URL, "html", ""),
        (HTML, "", URL, "html", ""),
        (HTML, "application/octet-stream", URL, "html", ""),
        (HTML, "application/pdf", URL, "html", ""),
        (HTML, "application/xml", URL, "html", ""),
        (b"\xef\xbb\xbf\n<!-- x -->\n<HTML lang=en>", "", URL, "html", ""),
        (
            b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
            "text/xml",
            URL,
            "html",
            "",
        ),
        (HTML, "text/plain", URL, "text", ""),
        (HTML, "text/plain", URL + ".html", "html", ""),
        (b"tide", "text/html", URL, "html", ""),
        (pdf("Dues"), "application/pdf", URL, "pdf", ""),
        (pdf("Dues"), "text/html", URL, "pdf", ""),
        (b"# Tides", "text/markdown", URL, "markdown", ""),
        (b"# Tides", "text/plain", URL + ".md?raw=1", "markdown", ""),
        (b"# Tides", "", URL + "/README.markdown", "markdown", ""),
        (b"Tides\n=====", "text/x-rst", URL, "rst", ""),
        (b"Tides\n=====", "text/plain", URL + ".rst", "rst", ""),
        (b"Tides", "text/plain", URL + ".txt", "text", ""),
        (b"Tides", "", "", "text", ""),
        ("Tides".encode("utf-16"), "text/plain", URL, "text", ""),
        (b"def f(): ...", "text/x-python", URL, "code", "python"),
        (b"def f(): ...", "text/plain", URL + ".PY", "code", "python"),
        (b"int main;", "text/x-csrc", URL, "code", "c"),
        (b"let a", "application/javascript", URL, "code", "javascript"),
        (b"a {}", "text/css", URL, "code", "css"),
        (b"a: 1", "application/x-yaml", URL, "code", "yaml"),
        (b"[a]", "application/toml", URL, "code", "toml"),
        (b"all:", "text/plain", "https://example.com/Makefile", "code", "makefile"),
        (
            b"FROM x",
            "application/octet-stream",
            "https://example.com/Dockerfile",
            "code",
            "dockerfile",
        ),
        (b"#lang", "text/x-thing", URL + ".rs", "code", "rust"),
        (b"BEGIN:VCALENDAR", "text/calendar", URL, "text", ""),
        (b"09:00 A boat.", "text/x-log", URL, "text", ""),
        (b"# Tides", "text/x-thing", URL + ".md", "markdown", ""),
        (b"{}", "application/json", URL, "code", "json"),
        (b"{}", "application/vnd.api+json", URL, "code", "json"),
        (b"{}", "text/plain", URL + ".json", "code", "json"),
        (zipped({"a": "x"}), "text/html", URL, "zip", ""),
        (zipped({"a": "x"}), "application/vnd.ms-word.document", URL + ".docx", "zip", ""),
        (tarred({"a": b"x"}), "application/octet-stream", URL, "tar", ""),
        (gzip.compress(b"x"), "", URL + ".txt", "packed", ""),
        (b"a,b", "text/csv", URL, "delimited", ""),
        (b"a\tb", "text/plain", URL + ".tsv", "delimited", ""),
        (b"<rss version='2.0'>", "text/html", URL, "xml", ""),
        (b"<?xml version='1.0'?><!-- x --><feed>", "application/octet-stream", URL, "xml", ""),
        (b"<a/>", "text/xml", URL, "xml", ""),
        (b"<a/>", "application/vnd.thing+xml", URL, "xml", ""),
        (b"<a/>", "text/plain", URL + "/pom.xml", "xml", ""),
        (b"From: a", "message/rfc822", URL, "mail", ""),
        (b"{\\rtf1 text}", "text/plain", URL, "rtf", ""),
        (b"\x89PNG\r\n\x1a\n", "text/plain", URL, "image", ""),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp", URL, "image", ""),
        (b"\0\0\0\x1cftypavif", "", URL, "image", ""),
        (b"BM\x36\x10\0\0\0\0\0\0", "", URL, "image", ""),
        (b"<svg/>", "image/svg+xml", URL, "xml", ""),
        (b"{}", "application/json", URL + ".ipynb", "notebook", ""),
        (b"{}", "application/x-ipynb+json", URL, "notebook", ""),
        (b"<svg/>", "text/plain", URL + ".svg", "xml", ""),
    ],
)
def test_a_document_has_one_reader(body, media_type, url, reader, language):
    kind = kind_of(body, media_type, url)
    assert (kind.reader, kind.language) == (reader, language)


@pytest.mark.parametrize(
    ("body", "media_type", "named"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword", "application/msword"),
        (b"Rar!\x1a\x07", "text/html", "application/vnd.rar"),
        (b"RIFF\0\0\0\0WAVE", "", "application/x-riff"),
        (b"\0\0\0\x20ftypheic", "image/heic", "image/heic"),
        (b"\0\0\0\x20ftypisom", "video/mp4", "video/mp4"),
        (b"\x7fELF\x02", "", "application/x-executable"),
        (b"a\0b", "application/octet-stream", "a binary format"),
        (b"\0zip", "application/zip", "a binary format sent as application/zip"),
        (b"no zip", "application/zip", "application/zip"),
        (b"x", "image/jpeg", "image/jpeg"),
    ],
)
def test_what_has_no_reader_is_named(body, media_type, named):
    with pytest.raises(Unreadable, match=f"{named.replace('+', '.')}.* is not supported"):
        read_document(body, media_type=media_type, url=URL)


@pytest.mark.parametrize("text", ["ID3 makes trees.", "RIFF holds chunks.", "OggS begins a page."])
def test_a_text_that_begins_like_the_name_of_a_format_is_a_text(text):
    assert read_document(text.encode(), media_type="text/plain", url=URL).markdown == f"{text}\n"


def test_source_code_is_one_fenced_block_named_like_its_file():
    code = b"def f():\r\n\treturn '```'\r\n"
    found = read_document(code, media_type="text/plain", url="https://example.com/src/a%20b.py?raw")
    assert found == Extracted(
        title="a b.py", markdown="````python\ndef f():\n\treturn '```'\n````", kind="python"
    )


@pytest.mark.parametrize(
    ("body", "media_type", "why"),
    [
        (b" \n", "text/x-python", "The document is empty."),
        (b"", "", "The document is empty."),
        (b"<!-- x -->", "text/markdown", "read as markdown and contains no text"),
        (b"<rss><channel/></rss>", "text/xml", "read as xml and contains no text"),
    ],
)
def test_a_document_that_gives_nothing_is_refused(body, media_type, why):
    with pytest.raises(Unreadable, match=why):
        read_document(body, media_type=media_type, url=URL)


TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |"
HEADERS = "From: a@b.example\nMIME-Version: 1.0\nSubject: Dues\n\nA boat pays 14 crowns.\n"


@pytest.mark.parametrize(
    ("body", "media_type", "kind", "shown"),
    [
        (b"\n {\\rtf1 A boat.\\par}", "application/msword", "rtf", "A boat."),
        (b"a\tb\n1\t2\n", "application/vnd.ms-excel", "csv", TABLE),
        (b"<table><tr><th>a<th>b<tr><td>1<td>2</table>", "application/vnd.ms-excel", "", "| 1 |"),
        (b"A boat pays.\n", "application/msword", "text", "A boat pays."),
        (HEADERS.encode(), "", "mail", "# Dues\n"),
        (HEADERS.encode("utf-16"), "text/plain", "mail", "# Dues\n"),
        (HEADERS.encode("utf-16-be"), "message/rfc822", "mail", "# Dues\n"),
        (b"<!--" + b" x" * 2_000 + b"--><html><p>A boat pays 14 crowns.", "", "", "A boat pays"),
    ],
)
def test_what_a_document_holds_tells_more_than_its_name(body, media_type, kind, shown):
    found = read_document(body, media_type=media_type, url=URL)
    assert shown in found.markdown
    assert found.kind == kind or not kind


@pytest.mark.parametrize(
    "media_type", ["text/html", "text/plain", "text/markdown", "text/x-rst", "application/json"]
)
def test_text_is_decoded_as_the_server_says(media_type):
    text = (
        "Die Führung kostet fünf Kronen und dauert ungefähr vierzig Minuten, und das Café schließt"
        " früher. " * 2
    )
    found = read_document(
        text.encode("cp1252"), media_type=media_type, url=URL, charset="windows-1252"
    )
    assert (
        "kostet fünf Kronen und dauert ungefähr vierzig Minuten, und das Café schließt früher."
        in found.markdown
    )


FILES = (
    docx(
        "<w:p><w:r><w:t>A boat pays.</w:t></w:r></w:p>",
        styles='<w:style w:styleId="a"><w:name w:val="heading 1"/></w:style>',
    ),
    xlsx(
        {"A": '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" s="0"><v>1</v></c></row>'},
        strings=["a"],
    ),
    pptx(["<p:sp><p:txBody><a:p><a:r><a:t>Tides</a:t></a:r></a:p></p:txBody></p:sp>"]),
    odf("<text:p>A boat pays.</text:p>"),
    epub(["<p>A boat pays.</p>"]),
    zipped({"a.txt": "text"}),
    tarred({"a.txt": b"text"}),
    tarred({"a.txt": b"text"}, "w:gz"),
    rtf(
        rb"{\listtext 1.}A boat\par\trowd\intbl a\cell\row{\field{\*\fldinst HYPERLINK"
        rb" https://a.b}{\fldrslt b}}"
    ),
    b'{"cells":[{"cell_type":"code","source":["x = 1"],"outputs":[{"text":["1"]}]}],"metadata":{}}',
    png(),
    jpeg(),
)
MAGIC = (
    b"",
    b"PK\x03\x04",
    b"\x1f\x8b\x08",
    b"BZh9",
    b"\xfd7zXZ\x00",
    b"%PDF-1.7\n",
    b"<?xml version='1.0'?>",
    b"<rss>",
    b"From: a\n",
)
MEDIA_TYPES = (
    *(
        "",
        "text/html",
        "text/plain",
        "text/markdown",
        "text/x-rst",
        "application/pdf",
        "application/json",
        "text/x-c",
        "a/b",
        "/",
    ),
    *(
        "application/zip",
        "application/x-tar",
        "application/gzip",
        "text/csv",
        "text/xml",
        "application/rss+xml",
        "message/rfc822",
    ),
    *("application/epub+zip", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
)


@given(
    st.tuples(
        st.sampled_from(MAGIC), st.binary(max_size=200) | st.text(max_size=100).map(str.encode)
    ).map(b"".join),
    st.sampled_from(MEDIA_TYPES),
    st.sampled_from(
        [
            "",
            URL,
            URL + ".md",
            URL + ".rst",
            URL + ".c",
            URL + ".eml",
            "library://docs/a.html",
            "http://[",
            "x" * 50,
        ]
    ),
)
def test_any_bytes_are_read_or_refused(body, media_type, url):
    try:
        assert isinstance(read_document(body, media_type=media_type, url=url), Extracted)
    except FetchError as refusal:
        assert str(refusal)


@given(st.data())
def test_damaged_files_are_read_or_refused(data):
    """Whole files of which a few bytes are changed."""
    body = bytearray(data.draw(st.sampled_from(FILES)))
    for place, byte in data.draw(
        st.lists(st.tuples(st.integers(0, len(body) - 1), st.integers(0, 255)), max_size=8)
    ):
        body[place] = byte
    try:
        assert isinstance(read_document(bytes(body), media_type="", url=URL), Extracted)
    except FetchError as refusal:
        assert str(refusal)
