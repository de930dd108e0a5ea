"""reStructuredText becomes Markdown without reaching outside its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.tools.extract.text.rst import extract_rst

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

Use `stir` or `the spoon`; see top and [a](https://example.org/a). `a  b` is code, `name` too.

```python
def f():
    return "  x"
```

Literal:

```
$ ls -l
  total 0
```

```python
>>> 1 + 1
2
```

Note: Hot, and *very* so.

Added in version 3.4: The spoon.

## `stir(soup, *, times=1)`

Stirs the soup.

`soup`:

What to stir.

**returns:**

The soup.

Linux

Run it.

## Deeper

- one
  - two
- three

**term**

What it means.

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


def test_reading_one_text_changes_nothing_for_the_next():
    extract_rst(".. role:: mine\n.. default-role:: code\n\n`x`\n", "")
    assert extract_rst("`some words` and :mine:`y`", "").markdown == "some words and `y`\n"


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
