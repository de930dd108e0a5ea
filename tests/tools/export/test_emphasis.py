"""What a writer sets bold or in italics is so in every format; what a page does is not."""

from __future__ import annotations

import io

import docx
import pytest
from lxml import html

from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html
from spadework.tools.export.markdown_report import escape_markdown, to_markdown
from spadework.values import Result
from tests.tools.export.rich import Words, on_the_page, rich

SAID = "**Old `locks`:** they *never* leak, and [the keeper](https://x.example/) is **wise**."


def _again(result: Result) -> str:
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    return to_markdown(result.document, ledger, result.sources)


def test_the_emphasis_of_a_writer_stands_in_every_format() -> None:
    result = rich(Words(said=SAID))
    assert "- **Old `locks`:** they *never* leak, and the keeper is **wise**. [1]" in _again(result)
    for page in (html.document_fromstring(to_html(result)), on_the_page(result)):
        [item, *_] = page.xpath("//section/ul/li")
        assert [one.text_content() for one in item.iter("strong")][:2] == ["Old ", "locks"]
        assert [one.text_content() for one in item.iter("em")] == ["never"]
        assert [one.text_content() for one in item.iter("code")][:1] == ["locks"]
    document = docx.Document(io.BytesIO(to_docx(result)))
    item = next(p for p in document.paragraphs if p.style and p.style.name == "List Bullet")
    assert [run.text for run in item.runs if run.bold] == ["Old ", "locks", ":", "wise"]
    assert [run.text for run in item.runs if run.italic] == ["never"]


def test_the_emphasis_of_a_page_is_not_shown() -> None:
    result = rich(Words(said=SAID))
    bare = tuple(one.model_copy(update={"parts": ()}) for one in result.document.sections)
    document = result.document.model_copy(update={"sections": bare})
    quoted = result.model_copy(update={"document": document})
    assert "Old `locks`: they never leak" in _again(quoted)
    page = html.document_fromstring(to_html(quoted))
    assert not page.xpath("//section//strong | //section//em")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**Note: it is cut", r"\*\*Note: it is cut"),
        ("2*3*4 and a * b", r"2\*3\*4 and a \* b"),
        ("**a *b* c**", "**a b c**"),
        ("*a***b** and **[b](http://x.example/)**", "ab and b"),
        ("__init__ stays, __this goes__ bold", r"\_\_init\_\_ stays, **this goes** bold"),
        ("**<b>x</b>**", r"**\<b\>x\</b\>**"),
    ],
)
def test_marks_that_are_no_clear_emphasis_are_none(text: str, shown: str) -> None:
    assert escape_markdown(text, emphasis=True) == shown
