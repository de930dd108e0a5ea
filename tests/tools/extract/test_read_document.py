"""Any document: the right reader by its bytes, its type and its name, and a refusal that names what is not read."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.kinds import kind_of
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
        (b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', "text/xml", URL, "html", ""),
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
        (b"FROM x", "application/octet-stream", "https://example.com/Dockerfile", "code", "dockerfile"),
        (b"#lang", "text/x-thing", URL + ".rs", "code", "rust"),
        (b"{}", "application/json", URL, "code", "json"),
        (b"{}", "application/vnd.api+json", URL, "code", "json"),
        (b"{}", "text/plain", URL + ".json", "code", "json"),
    ],
)
def test_a_document_has_one_reader(body, media_type, url, reader, language):
    kind = kind_of(body, media_type, url)
    assert (kind.reader, kind.language) == (reader, language)


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("body", "media_type", "named"),
    [
        (zipped(), "text/html", "application/zip"),
        (zipped(), "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "wordprocessingml"),
        (gzip.compress(b"x"), "", "application/gzip"),
        (b"\x89PNG\r\n\x1a\n", "text/plain", "image/png"),
        (b"\0\0\0\x20ftypisom", "video/mp4", "video/mp4"),
        (b"\x7fELF\x02", "", "application/x-executable"),
        (b"a\0b", "application/octet-stream", "a binary format"),
        (b"<rss/>", "application/rss+xml", "application/rss+xml"),
        (b"<a/>", "text/xml", "text/xml"),
        (b"a,b", "text/csv", "text/csv"),
        (b"x", "image/jpeg", "image/jpeg"),
    ],
)
def test_what_has_no_reader_is_named(body, media_type, named):
    with pytest.raises(Unreadable, match=f"{named.replace('+', '.')}.* is not read yet"):
        read_document(body, media_type=media_type, url=URL)


def test_source_code_is_one_fenced_block_named_like_its_file():
    code = b"def f():\r\n\treturn '```'\r\n"
    found = read_document(code, media_type="text/plain", url="https://example.com/src/a%20b.py?raw")
    assert found == Extracted(title="a b.py", markdown="````python\ndef f():\n\treturn '```'\n````", kind="python")


def test_an_empty_file_is_empty():
    assert read_document(b" \n", media_type="text/x-python", url=URL).markdown == ""


@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "text/markdown", "text/x-rst", "application/json"])
def test_text_is_decoded_as_the_server_says(media_type):
    text = "Die Führung kostet fünf Kronen und dauert ungefähr vierzig Minuten, und das Café schließt früher. " * 2
    found = read_document(text.encode("cp1252"), media_type=media_type, url=URL, charset="windows-1252")
    assert "kostet fünf Kronen und dauert ungefähr vierzig Minuten, und das Café schließt früher." in found.markdown


@given(
    st.binary(max_size=200) | st.text(max_size=100).map(str.encode),
    st.sampled_from(
        ["", "text/html", "text/plain", "text/markdown", "text/x-rst", "application/pdf", "application/json", "text/x-c", "a/b", "/"]
    ),
    st.sampled_from(["", URL, URL + ".md", URL + ".rst", URL + ".c", "library://docs/a.html", "http://[", "x" * 50]),
)
def test_any_bytes_are_read_or_refused(body, media_type, url):
    try:
        assert isinstance(read_document(body, media_type=media_type, url=url), Extracted)
    except Unreadable as refusal:
        assert str(refusal).endswith(".")
