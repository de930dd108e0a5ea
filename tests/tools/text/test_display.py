"""What a model is shown of a page, and that quotes of it are found in the page."""

from __future__ import annotations

from hypothesis import given

from spadework.tools.text.markdown import plain
from spadework.tools.text.passages import without_targets
from tests.tools.text.markdownish import markdown

TEXT = """# Ferries of [Aldermere](https://a.example/aldermere)

Share

- [Home](https://a.example/)
- [All ferries](https://a.example/ferries "ferries")

The [old *ferry*](https://a.example/old) carries 212 passengers ([source](https://a.example/s)).

**Fare**

Three crowns.

Speed:

| knots | day |
|---|---|
| 12 | [Monday](https://a.example/m) |

![a ferry](https://a.example/f.png)
"""


def test_targets_of_links_and_pictures_are_not_shown() -> None:
    shown = without_targets(TEXT)
    assert "https://" not in shown
    assert "a ferry" not in shown
    assert "The old *ferry* carries 212 passengers (source)." in shown


@given(markdown)
def test_what_is_shown_reads_as_the_text_does_but_for_pictures(text: str) -> None:
    if "![" not in text:
        assert plain(without_targets(text)) == plain(text)
