"""Odd and hostile files, made anew from a seed: damaged, mislabelled, endless, nested, packed, and
in formats within formats.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PIL import Image

from tests.tools.extract.files import docx, epub, odf, pptx, rtf, saved, tarred, xlsx, zipped
from tests.world.paper import pdf

_WORDS = [
    "tide",
    "boat",
    "quay",
    "harbour",
    "crown",
    "winter",
    "lamp",
    "keeper",
    "step",
    "night",
    "log",
    "moon",
    "berth",
]


@dataclass(frozen=True)
class Odd:
    """A file, what its server says that it is, and its name."""

    body: bytes
    media_type: str
    name: str


Make = Callable[[random.Random], Odd]


def prose(chance: random.Random, count: int = 200) -> str:
    """Sentences of `count` words."""
    found = [chance.choice(_WORDS) for _ in range(count)]
    return " ".join(
        word.capitalize() + " the" if n % 9 == 0 else word + "." * (n % 9 == 8)
        for n, word in enumerate(found)
    )


def _page(inner: str) -> bytes:
    return f"<!doctype html><title>Odd</title><body>{inner}".encode("utf-8", "surrogatepass")


def _html(inner: Callable[[random.Random], str]) -> Make:
    return lambda chance: Odd(_page(inner(chance)), "text/html; charset=utf-8", "odd.html")


def _file(make: Callable[[random.Random], bytes], media_type: str, name: str) -> Make:
    return lambda chance: Odd(make(chance), media_type, name)


def _flipped(body: bytes, chance: random.Random, share: float = 0.002) -> bytes:
    """A file with wrong bytes here and there."""
    damaged = bytearray(body)
    for _ in range(max(3, int(len(body) * share))):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def _cut(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randrange(len(body) // 4, len(body))]


def _shuffled(body: bytes, chance: random.Random, size: int = 97) -> bytes:
    """A file whose parts stand in any order behind its first bytes."""
    parts = [body[n : n + size] for n in range(size, len(body), size)]
    chance.shuffle(parts)
    return body[:size] + b"".join(parts)


def _documents(chance: random.Random) -> dict[str, bytes]:
    """A sound file of each format that is kept in bytes."""
    text = prose(chance)
    return {
        "pdf": pdf(f"Tides\n\n{text}\f{text}"),
        "docx": docx(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"),
        "xlsx": xlsx({"A": '<row r="1"><c r="A1"><v>1</v></c></row>'}),
        "pptx": pptx(
            [f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"]
        ),
        "odt": odf(f"<text:p>{text}</text:p>"),
        "epub": epub([f"<p>{text}</p>"]),
        "rtf": rtf(text.encode() + rb"\par"),
        "zip": zipped({"a.txt": text, "b.html": f"<p>{text}"}),
        "tgz": tarred({"a.txt": text.encode()}, "w:gz"),
        "png": saved(Image.effect_noise((120, 80), 60), "PNG"),
    }


def _nested_archive(chance: random.Random) -> bytes:
    body = prose(chance).encode()
    for n in range(6):
        body = zipped({f"{n}.zip" if n else "a.txt": body})
    return body


def _thousand_columns(chance: random.Random) -> bytes:
    row = ",".join(chance.choice(_WORDS) for _ in range(3_000))
    return "\n".join([row] * 300).encode()


def _mail(chance: random.Random) -> bytes:
    """A mail in a mail in a mail."""
    body = f"Subject: Tides\n\n{prose(chance)}"
    for n in range(30):
        body = f"Subject: Fwd {n}\nContent-Type: message/rfc822\n\n{body}"
    return body.encode()


def _saved_page(chance: random.Random) -> bytes:
    inside = base64.encodebytes(_page(f"<p>{prose(chance)}"))
    head = b"From: <Saved by Blink>\nContent-Type: multipart/related; boundary=b\n\n"
    part = b"--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n" + inside
    return head + part * 40 + b"--b--"


def _notebook(chance: random.Random) -> bytes:
    cell = {"cell_type": chance.choice(["markdown", "code"]), "source": [prose(chance)] * 40}
    odd = [{"cell_type": None}, {"source": {"a": []}}, 7, "x", None]
    return json.dumps({"cells": [cell, *odd, cell], "metadata": []}).encode()


def _deep_json(chance: random.Random) -> bytes:
    return b'{"' + chance.choice(_WORDS).encode() + b'":[' * 200_000


def _huge_page(chance: random.Random) -> bytes:
    """A PDF whose page is as large as a field, with an image in it."""
    body = io.BytesIO()
    Image.effect_noise((900, 900), chance.uniform(30, 90)).save(body, "PDF", resolution=4)
    return body.getvalue()


def _unclosed(chance: random.Random) -> str:
    tags = [
        "div",
        "b",
        "table",
        "a href=x",
        "section",
        "li",
        "td",
        "font",
        "svg",
        "math",
        "template",
    ]
    return "".join(f"<{chance.choice(tags)}>{chance.choice(_WORDS)} " for _ in range(6_000))


def _any_tags(chance: random.Random) -> str:
    signs = ["<", ">", "</", "&", ";", '"', "'", "<!--", "-->", "<![CDATA[", "]]>", "\0", "p", " "]
    return "".join(chance.choice(signs) for _ in range(40_000)) + prose(chance)


def _wide_table(chance: random.Random) -> str:
    row = "".join(f"<td colspan={chance.randrange(1, 900)}>{n}</td>" for n in range(60))
    return f"<table>{f'<tr>{row}</tr>' * 200}</table>"


def _tables_in_tables(chance: random.Random) -> str:
    cell = prose(chance, 20)
    return "<table><tr><td>" * 400 + cell + "</table>" * 400


def _bidi(chance: random.Random) -> str:
    signs = ["\u202e", "\u2066", "\u200f", "\ufeff", "\u200b", "\u0301" * 50, "\U000e0041"]
    return "".join(f"<p>{chance.choice(signs)}{prose(chance, 12)}" for _ in range(300))


def _entities(chance: random.Random) -> str:
    odd = ["&#0;", "&#xD800;", "&#x110000;", "&nosuch;", "&amp" * 9, "&#99999999999999;"]
    return "<p>" + " ".join(f"{chance.choice(odd)} {chance.choice(_WORDS)}" for _ in range(4_000))


def _script_page(chance: random.Random) -> str:
    state = json.dumps({"props": [{"body": prose(chance, 60)}] * 400})
    return f'<div id=root></div><script id="__NEXT_DATA__" type="application/json">{state}</script>'


def _utf16(chance: random.Random) -> bytes:
    return prose(chance).encode("utf-16-le")


def _mixed_letters(chance: random.Random) -> bytes:
    codes = ["utf-8", "cp1252", "shift_jis", "koi8-r", "utf-16-be"]
    return b"\n".join(
        f"é日ж {prose(chance, 20)}".encode(chance.choice(codes), "ignore") for _ in range(80)
    )


def _feed(chance: random.Random) -> bytes:
    item = f"<item><title>{prose(chance, 5)}</title><description>&lt;p&gt;x</description></item>"
    return f"<rss><channel>{item * 9_000}".encode()


def _roman(chance: random.Random) -> bytes:
    return (("=" * 900 + "\n") * 50 + prose(chance) + "\n" + ".. " * 30_000).encode()


_FORMATS = ("pdf", "docx", "xlsx", "pptx", "odt", "epub", "rtf", "zip", "tgz", "png")
_WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "damaged": _flipped,
    "cut": _cut,
    "shuffled": _shuffled,
}


def _harmed(form: str, way: str) -> Make:
    return lambda chance: Odd(
        _WAYS[way](_documents(chance)[form], chance), "application/octet-stream", f"odd.{form}"
    )


def _mislabelled(form: str, media_type: str, name: str) -> Make:
    return lambda chance: Odd(_documents(chance)[form], media_type, name)


#: Each by a name; a seed makes them, and another seed makes others.
FILES: Mapping[str, Make] = {
    **{f"a {form} that is {way}": _harmed(form, way) for form in _FORMATS for way in _WAYS},
    "elements never closed": _html(_unclosed),
    "signs of markup in any order": _html(_any_tags),
    "cells over hundreds of columns": _html(_wide_table),
    "tables in tables": _html(_tables_in_tables),
    "letters that turn the line": _html(_bidi),
    "entities that are none": _html(_entities),
    "a page in its script": _html(_script_page),
    "an empty page": _html(lambda _: ""),
    "a page of spaces": _html(lambda _: "&nbsp;\u200b " * 20_000),
    "a page of one word": _html(lambda _: "<p>" + "x" * 2_000_000),
    "a page of comments": _html(lambda chance: f"<!--{prose(chance)}-->" * 500),
    "frames and nothing": _html(lambda _: "<frameset><frame src=a><frame src=b></frameset>"),
    "a page in a noscript": _html(lambda c: f"<noscript><p>{prose(c)}</noscript>"),
    "nested lists": _html(lambda c: "<ul><li>" * 3_000 + prose(c)),
    "a page of attributes": _html(lambda c: f"<p {'a=b ' * 30_000}>{prose(c)}"),
    "a pdf sent as a page": _mislabelled("pdf", "text/html", "odd.html"),
    "a docx sent as text": _mislabelled("docx", "text/plain", "odd.txt"),
    "a page sent as a pdf": _file(lambda c: _page(f"<p>{prose(c)}"), "application/pdf", "odd.pdf"),
    "a picture sent as a page": _mislabelled("png", "text/html", "odd"),
    "archives in archives": _file(_nested_archive, "application/zip", "odd.zip"),
    "a bomb in gzip": _file(lambda _: gzip.compress(bytes(90_000_000)), "application/gzip", "a.gz"),
    "a bomb in bzip2": _file(lambda _: bz2.compress(bytes(90_000_000)), "", "odd.bz2"),
    "a text in xz": _file(lambda c: lzma.compress(prose(c).encode()), "", "odd.txt.xz"),
    "3,000 columns": _file(_thousand_columns, "text/csv", "odd.csv"),
    "quotes never closed": _file(
        lambda c: f'a,b\n"{prose(c)}'.encode() * 99, "text/csv", "odd.csv"
    ),
    "mails in mails": _file(_mail, "message/rfc822", "odd.eml"),
    "forty pages in a saved one": _file(_saved_page, "multipart/related", "odd.mhtml"),
    "a notebook of odd cells": _file(_notebook, "", "odd.ipynb"),
    "JSON without end": _file(_deep_json, "application/json", "odd.json"),
    "a page as large as a field": _file(_huge_page, "application/pdf", "odd.pdf"),
    "UTF-16 without a mark": _file(_utf16, "text/plain", "odd.txt"),
    "five codes in one text": _file(_mixed_letters, "text/plain", "odd.txt"),
    "a feed never closed": _file(_feed, "application/rss+xml", "odd.xml"),
    "a drawing": _file(lambda _: b"<svg><text>x</text></svg>", "image/svg+xml", "odd.svg"),
    "underlines of nothing": _file(_roman, "text/x-rst", "odd.rst"),
    "no bytes": _file(lambda _: b"", "text/html", "odd.html"),
    "random bytes": _file(lambda c: c.randbytes(300_000), "text/html", "odd.html"),
}
