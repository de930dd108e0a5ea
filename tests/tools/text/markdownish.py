"""Text that looks like Markdown, for property tests: sensible lines and nonsense, in any order."""

from __future__ import annotations

from hypothesis import strategies as st

_LINES = (
    *(
        "",
        "",
        "# Head",
        "## Sub *em*",
        "### ",
        "#hashtag",
        "===",
        "---",
        "***",
        "words of a paragraph",
        "one more line of it",
    ),
    *(
        "- item",
        "* item **bold**",
        "1. one",
        "2) two",
        "  more of it",
        "    deep",
        "\tcode",
        "```",
        "```python",
        "~~~",
        "  ```",
        "````",
    ),
    *(
        "> quote",
        "> # no heading",
        "| a | b |",
        "| --- | --- |",
        "a | b",
        "--- | ---",
        "[link](http://x.org/a_b) and `code`",
        "\r",
        "   ",
    ),
)
_SIGNS = st.text("`*_~[]()!\\<>&;#|-.:> \t\r\nab1\u00e9\u4e2d\u2019\u200b\x0b\x1c", max_size=30)

markdown = st.lists(st.one_of(st.sampled_from(_LINES), _SIGNS), max_size=40).map("\n".join)
