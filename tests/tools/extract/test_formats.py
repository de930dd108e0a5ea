"""Formats of one file each: notebooks, and the one that the documentation shows, added as it
says.
"""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

from spadework.errors import Unreadable
from spadework.tools.extract import formats, read_document
from spadework.tools.extract.formats.notebook import MAX_CELLS

URL = "https://example.com/tides.ipynb"
DOCS = Path(__file__).parents[3] / "docs" / "reading.md"


def notebook(*cells: dict[str, object]) -> bytes:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}).encode()


def test_a_notebook_is_its_texts_its_code_and_what_was_printed():
    body = notebook(
        {"cell_type": "markdown", "source": ["# Tides\n", "\n", "High at *nine*."]},
        {
            "cell_type": "code",
            "source": "print(9)",
            "outputs": [{"text": ["9\n"]}, {"data": {"text/plain": "None", "image/png": "x"}}],
        },
        {"cell_type": "raw", "source": "as it is"},
        {"cell_type": "code", "source": ""},
    )
    found = read_document(body, media_type="text/plain", url=URL)
    printed = "```\n9\n```\n\n```\nNone\n```\n\n```\nas it is\n```"
    assert found.markdown == f"# Tides\n\nHigh at *nine*.\n\n```python\nprint(9)\n```\n\n{printed}"
    assert (found.title, found.kind) == ("Tides", "notebook")


def test_a_comment_in_code_is_no_title():
    code = {"cell_type": "code", "source": "# first of all\nimport tides"}
    body = notebook(code, {"cell_type": "markdown", "source": "# Tides"})
    assert read_document(body, media_type="", url=URL).title == "Tides"


def test_what_a_notebook_leaves_out_is_said_and_damage_is_named():
    body = notebook(*[{"cell_type": "code", "source": "1"}] * (MAX_CELLS + 3))
    assert read_document(body, media_type="", url=URL).markdown.endswith(
        "\n\n… 3 further cells are not shown."
    )
    for damaged in (b"{", b"[]", b"{}", b"[" * 100_000):
        with pytest.raises(Unreadable, match="damaged"):
            read_document(damaged, media_type="", url=URL)


def test_a_saved_page_is_the_page_at_its_own_address():
    page = (
        "<title>Tides</title><main><h1>Tides</h1><p>The tide is high =C3=BC."
        " <a href=3D'/moon'>The moon</a></p></main>"
    )
    saved = (
        "From: <Saved by Blink>\nSnapshot-Content-Location: https://a.example/tides\n"
        'MIME-Version: 1.0\nContent-Type: multipart/related; type="text/html"; boundary="b"\n\n'
        "--b\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n"
        f"Content-Location: https://a.example/tides\n\n{page}\n"
        "--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\naGk=\n--b--\n"
    ).encode()
    for media_type in ("message/rfc822", "multipart/related", ""):
        found = read_document(saved, media_type=media_type, url="file:///tides.mhtml")
        assert found.title == "Tides"
        assert "ü. [The moon](https://a.example/moon)" in found.markdown
    with pytest.raises(Unreadable, match="no page"):
        read_document(b"From: <Saved by Blink>\n\nnothing", media_type="", url="a.mht")


def test_the_format_of_the_documentation_is_added_by_its_one_file(tmp_path, monkeypatch):
    code = re.search(
        r"```python\n(.*?)```", DOCS.read_text().partition("## Add a format")[2], re.DOTALL
    )
    assert code
    (tmp_path / "tasks.py").write_text(textwrap.dedent(code[1]))
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    formats.added_formats.cache_clear()
    try:
        for media_type, name in (("", "a"), ("text/x-tasks", "a"), ("text/plain", "a.tasks")):
            found = read_document(
                b"TODO!\nsweep the quay\n# lamp\n",
                media_type=media_type,
                url=f"https://example.com/{name}",
            )
            assert (found.kind, found.markdown) == ("tasks", "- sweep the quay\n- \\# lamp")
    finally:
        formats.added_formats.cache_clear()
