"""Markdown files become clean Markdown, and their code stays as it is."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from spadework.tools.extract.text.markdown import clean_markdown, html_markdown
from spadework.visible import visible

README = '''<!-- logo -->
<p align="center">
  <a href="https://example.org"><img src="logo.png" alt="Spoon"></a>
</p>
<p align="center"><em>A spoon for <b>soup</b>.</em></p>

[![CI](https://img.shields.io/ci.svg)](https://ci.example.org) [![PyPI](https://img.shields.io/v.svg)][pypi]

[Docs](https://docs.example.org) | [Blog](https://blog.example.org)

# Spoon

- [Install](#install)
- [Use](#use)

Spoon is a **small** library
that stirs `a  b` and [soup](soup.md), see [the docs](https://docs.example.org/x).

## Install

```bash
pip install spoon   # <b>not bold</b>
```

1. Stir:

   ```python
   def stir(x: list[str]) -> None:
       """<!-- kept -->"""
       print(f"{x}  ")
   ```
2. Eat.

Use
---

    $ spoon --stir

| Option | Meaning |
|:--|--|
| `-a\\|-b` | one of [two](x.md) |

> [!NOTE]
> It is hot.

<details>
<summary>More</summary>

Hidden <kbd>Ctrl</kbd> text with <name> kept.
</details>

[pypi]: https://pypi.org/project/spoon
'''


def test_a_readme_keeps_its_words_and_loses_its_decoration():
    read = clean_markdown(README, "https://example.org/spoon/README.md")
    assert read.title == "Spoon"
    assert (
        read.markdown
        == '''A spoon for **soup**.

# Spoon

Spoon is a **small** library that stirs `a  b` and soup, see the docs.

## Install

```bash
pip install spoon   # <b>not bold</b>
```

1. Stir:

   ```python
   def stir(x: list[str]) -> None:
       """<!-- kept -->"""
       print(f"{x}  ")
   ```

2. Eat.

## Use

```
$ spoon --stir
```

| Option | Meaning |
| --- | --- |
| `-a\\|-b` | one of two |

> **Note:** It is hot.

More

Hidden `Ctrl` text with <name> kept.
'''
    )


def test_links_are_listed_and_relative_ones_only_on_the_web():
    on_the_web = clean_markdown(README, "https://example.org/spoon/README.md").links
    in_a_library = clean_markdown(README, "library://notes/README.md").links
    assert ("https://example.org/spoon/soup.md", "soup") in [
        (link.url, link.text) for link in on_the_web
    ]
    assert ("https://docs.example.org/x", "the docs") in [
        (link.url, link.text) for link in in_a_library
    ]
    assert all(link.url.startswith("https://") for link in in_a_library)


def test_html_in_markdown_is_read_like_a_page():
    text = (
        '<h1><a href="https://example.org">Spoon</a></h1>\n\n<table><tr><th>a</th><th>b</th></tr>'
        "<tr><td>1</td><td>10<sup>6</sup></td></tr></table>\n\n<pre>x &lt;y></pre>\n"
    )
    read = clean_markdown(text, "")
    assert read.title == "Spoon"
    assert read.markdown == (
        "# [Spoon](https://example.org)\n\n| a | b |\n| --- | --- |\n| 1 | 10^6 |\n\n"
        "```\nx <y>\n```\n"
    )


def test_front_matter_gives_title_and_date():
    read = clean_markdown("---\ntitle: 'My notes'\ndate: 2024-05-06\n---\n\nText.\n", "")
    assert (read.title, read.markdown, read.published_at.isoformat()) == (
        "My notes",
        "Text.\n",
        "2024-05-06T00:00:00+00:00",
    )


def test_a_rule_at_the_top_is_not_front_matter():
    assert clean_markdown("---\n\nText.\n\n---\n", "").markdown == "Text.\n"


def test_a_heading_further_down_is_not_the_title():
    assert clean_markdown("Words first.\n\n## Features\n\nMore.\n", "").title == ""


def test_the_contents_list_goes_with_its_heading():
    text = "# A\n\n## Table of Contents\n\n* [One](#one)\n* [Two](#two)\n\n## One\n\nText.\n"
    assert clean_markdown(text, "").markdown == "# A\n\n## One\n\nText.\n"


def test_a_list_of_links_to_other_pages_is_content_below_a_section():
    text = "# A\n\n## See\n\n- [One](https://one.org)\n- [Two](https://two.org)\n"
    assert "- One\n- Two" in clean_markdown(text, "").markdown


def test_directives_and_tabs_hold_markdown_or_code():
    text = (
        '```{note}\nSome *text*.\n```\n\n```{code-block} python\nx = 1\n```\n\n=== "Tab"\n\n   '
        " ```sh\n    ls\n    ```\n"
    )
    markdown = clean_markdown(text, "").markdown
    assert "Some *text*." in markdown
    assert "```python\nx = 1\n```" in markdown
    assert "```sh\nls\n```" in markdown


def test_hard_line_breaks_stay_lines_and_no_line_begins_a_block_by_accident():
    assert (
        clean_markdown("One<br>\\# two  \n3\\. three\n", "").markdown
        == "One\n\\# two\n3\\. three\n"
    )


def test_windows_line_ends_are_read():
    assert clean_markdown("# A\r\n\r\n```\r\nx\r\n```\r\n", "").markdown == "# A\n\n```\nx\n```\n"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part",
    [
        *("<pre>", "<h1>", "<?", "<pre ", "<br ", "<li ", "<p ", "<!doctype ", '<a b="', "<!--"),
        *("`` ` ", "![a](", "[[", "**a "),
    ],
)
def test_endless_repetition_is_read_in_time(part):
    clean_markdown(part * 20_000, "")
    html_markdown(f"{part * 20_000}\n</pre></h1>")


@pytest.mark.parametrize("around", ["<pre>{}</pre>", "<h1>{}</h1>", "<?{}?>"])
def test_what_is_long_between_tags_takes_little_memory(around):
    source = around.format("x = 1\n" * 200_000)
    tracemalloc.start()
    try:
        html_markdown(source)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(source)
    finally:
        tracemalloc.stop()


@given(st.text(alphabet=st.sampled_from("ab <>`*_[]()!#|-\n~:\"'&;\\/="), max_size=200))
def test_any_text_is_read(text):
    clean_markdown(text, "library://x/y.md")


@given(st.text(min_size=1, max_size=200).filter(lambda code: visible(code).strip()))
def test_any_code_survives_exactly_but_for_what_works_unseen(code):
    code = visible(code)
    read = clean_markdown(f"# T\n\n<p>x</p>\n\n{'`' * 20}python\n{code}\n{'`' * 20}\n", "")
    fences = [
        token.content
        for token in MarkdownIt("commonmark").parse(read.markdown)
        if token.type == "fence"
    ]
    assert fences == [code + "\n"] or "`" * 20 in code
