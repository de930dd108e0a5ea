"""reStructuredText becomes Markdown without reaching outside its text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.tools.extract.text.plain_text import extract_rst

GUIDE = """\
.. image:: logo.png
.. _top:

=====
Guide
=====

Use :func:`~pkg.stir` or :class:`the spoon <pkg.Spoon>`; see :ref:`top` and
`a <https://example.org/a>`_. ``a  b`` is code, `name` too.

.. code-block:: python
   :emphasize-lines: 1
   :caption: x

   def f():
       return "  x"

Literal::

    $ ls -l
      total 0

>>> 1 + 1
2

.. note:: Hot, and
   *very* so.

.. versionadded:: 3.4
   The spoon.

.. py:function:: stir(soup, *, times=1)

   Stirs the soup.

   :param soup: What to stir.
   :returns: The soup.

.. toctree::
   :maxdepth: 2

   other

.. tab:: Linux

   Run it.

Deeper
------

- one

  - two
- three

term
   What it means.

+-----+-----+
| a   | b   |
+=====+=====+
| 1   | 2   |
+-----+-----+
"""


def test_a_guide_written_for_sphinx_is_read():
    read = extract_rst(GUIDE, "library://docs/guide.rst")
    assert read.title == "Guide"
    assert [(link.url, link.text) for link in read.links] == [("https://example.org/a", "a")]
    assert (
        read.markdown
        == """\
# Guide

Use `stir` or `the spoon`; see top and
[a](https://example.org/a). `a  b` is code, `name` too.

```python
def f():
    return "  x"
```

Literal:

```
$ ls -l
  total 0
```

```pycon
>>> 1 + 1
2
```

**Note:** Hot, and
*very* so.

**Added in version 3.4:** The spoon.

## `stir(soup, *, times=1)`

Stirs the soup.

- `soup`: What to stir.
- Returns: The soup.

Linux

Run it.

## Deeper

- one

- two
- three

- term What it means.

| a | b |
| --- | --- |
| 1 | 2 |
"""
    )


@pytest.mark.parametrize(
    "text",
    [
        ".. include:: {path}",
        ".. literalinclude:: {path}",
        ".. raw:: html\n   :file: {path}",
        ".. csv-table::\n   :file: {path}",
        ".. code::\n   :file: {path}",
        ".. raw:: html\n\n   <script>secret</script>",
        ".. |x| raw:: html\n   :file: {path}\n\n|x|",
    ],
)
def test_nothing_outside_the_text_is_read_and_no_markup_let_through(tmp_path, text):
    (tmp_path / "secret").write_text("secret")
    assert "secret</" not in extract_rst(
        "Start.\n\n" + text.format(path=tmp_path / "secret"), ""
    ).markdown.replace(str(tmp_path), "")
    assert "secret\n" not in extract_rst(
        text.format(path=tmp_path / "secret"), ""
    ).markdown.replace(f"{tmp_path}/secret", "")


def test_faults_are_not_shown_and_nothing_is_printed(capsys):
    read = extract_rst(
        "Title\n==\n\n*open\n\n:unknown:`x` |missing| broken_\n\n.. weird::\n   :opt: 1\n\n  "
        " Kept.\n",
        "",
    )
    assert "Kept." in read.markdown
    assert "ystem Message" not in read.markdown
    assert capsys.readouterr() == ("", "")


def test_a_heading_further_down_is_not_the_title():
    assert extract_rst("Words.\n\nPart\n----\n\nMore.\n", "").title == ""


def test_named_targets_replacements_notes_and_tables_are_read():
    text = (
        "|logo|\n\nBy |us|, see `the\nguide`_ and spoon_ [#a]_ and a_name.\n\n"
        ".. |logo| image:: logo.png\n.. |us| replace:: the crew\n"
        ".. _the guide: https://example.org/g\n.. _spoon:\n   https://example.org/s\n"
        ".. [#a] A note.\n\n.. math:: a = b\n\n::\n\n   code\n\n"
        "====  =====\na     b\n====  =====\n1     two\n      words\n====  =====\n"
    )
    read = extract_rst(text, "")
    assert read.markdown == (
        "By the crew, see [the guide](https://example.org/g) and "
        "[spoon](https://example.org/s) [a] and a_name.\n\n[a] A note.\n\n"
        "```\na = b\n```\n\n```\ncode\n```\n\n"
        "| a | b |\n| --- | --- |\n| 1 | two words |\n"
    )
    assert [link.text for link in read.links] == ["the guide", "spoon"]


def test_titles_are_as_deep_as_their_style_is_late():
    text = "A\n=\n\n***\nAB\n***\n\nBC\n==\n\nCD\n--\n\nDE\n==\n\nEnd.\n"
    assert extract_rst(text, "").markdown == "A\n\\=\n\n# AB\n\n## BC\n\n### CD\n\n## DE\n\nEnd.\n"


def test_windows_line_ends_are_read_in_a_long_text_too():
    text = "Dues\r\n====\r\n\r\n" + "A boat pays ``14``.\r\n\r\n" * 2_000
    found = extract_rst(text, "library://docs/guide.rst").markdown
    assert found == extract_rst(text.replace("\r", ""), "library://docs/guide.rst").markdown
    assert "pays `14`." in found


def test_what_nobody_would_write_is_read_as_plain_text():
    assert "a\n" in extract_rst("".join(f"{' ' * depth}a\n\n" for depth in range(400)), "").markdown
    assert extract_rst("a_ " * 20_000, "").markdown.startswith("a_ a_")


@given(st.text(alphabet=st.sampled_from("ab .:`*_|\n=-+<>[]\\\t#"), max_size=200))
def test_any_text_is_read(text):
    extract_rst(text, "library://x/y.rst")


def test_links_stand_in_the_order_in_which_they_are_met() -> None:
    text = "`term <https://a.example/>`_\n    See `more <https://b.example/>`_.\n"
    assert [link.url for link in extract_rst(text, "https://c.example/").links] == [
        "https://a.example/",
        "https://b.example/",
    ]
