"""Text in which nothing works unseen."""

from __future__ import annotations

import unicodedata

from hypothesis import given, strategies as st
from pydantic import TypeAdapter

from spadework.errors import SpadeworkError
from spadework.tools.export.markdown_report import escape_markdown
from spadework.tools.text.markdown import plain
from spadework.values import Hit, Value
from spadework.visible import visible

HIDDEN = "\x1b]52;c;QQ==\x07\x9b31m\u202e\u2066\ufeff\U000e0041\x7f"


class Nested(Value):
    """A value that holds texts in every way."""

    text: str
    texts: tuple[str, ...] = ()
    table: dict[str, str]


def test_code_and_words_stay_what_they_are() -> None:
    for text in (
        "\tif a:\n\t\treturn «é» # 漢字 🙂👩‍👧\n",
        "می‌خواهم",
        "soft\u00adhyphen",
        "a\u00a0b",
    ):
        assert visible(text) == text


def test_every_way_to_end_a_line_ends_it() -> None:
    assert visible("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h") == "a\nb\nc\nd\ne\nf\ng\nh"


@given(st.text(st.characters(codec=None, categories=None)))
def test_no_control_is_left_and_the_rest_is_as_it_was(text: str) -> None:
    seen = visible(text)
    controls = {c for c in seen if unicodedata.category(c) in ("Cc", "Cs")}
    assert controls <= {"\n", "\t"}
    assert not {c for c in seen if unicodedata.bidirectional(c) in _TURNING}
    assert visible(seen) == seen
    assert seen.encode().decode() == seen


_TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_a_value_holds_visible_text_wherever_it_is_in_it_and_however_it_is_made() -> None:
    data = {"text": f"a{HIDDEN}", "texts": [HIDDEN], "table": {HIDDEN: HIDDEN}}
    json = TypeAdapter(dict).dump_json(data).decode()
    shown = visible(HIDDEN)
    for made in (Nested(**data), Nested.model_validate(data), Nested.model_validate_json(json)):
        assert (made.text, made.texts, made.table) == (f"a{shown}", (shown,), {shown: shown})
    hit = Hit(url="https://a.example", title=HIDDEN, snippet=HIDDEN, position=1, provider="p")
    assert (hit.title, hit.snippet) == (shown, shown)


def test_an_error_says_visible_text() -> None:
    assert (
        str(SpadeworkError(f"The server said: {HIDDEN}")) == f"The server said: {visible(HIDDEN)}"
    )


def test_what_an_entity_stands_for_is_visible_too() -> None:
    assert plain("a&#27;[2Jb&#x202e;c &amp; d") == "a[2Jbc & d"
    assert escape_markdown("a&#27;[2Jb&#x202e;c") == "a\\[2Jbc"
