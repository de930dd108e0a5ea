"""The sentences around a quote."""

from __future__ import annotations

from spadework.tools.text.page_text import REACH, PageText

LEAD = "To recreate the key without blocking updates:"
CODE = "CREATE INDEX second;\nDROP INDEX first;"
AFTER = "The index is there at once."
TEXT = f"""# Keys

The key is unique.

```
{"ALTER TABLE other;" + " " * (REACH - 100)}
```

{LEAD}

```sql
{CODE}
```

{AFTER} It is small.

| a | b |
| --- | --- |
| 1 | 2 |

Rows may be many.
"""


def around(quote: str) -> tuple[str, str]:
    start = TEXT.index(quote)
    return PageText(TEXT).neighbours(start, start + len(quote))


def test_code_stands_between_the_sentence_that_leads_to_it_and_the_one_after_it() -> None:
    assert around(CODE) == (LEAD, AFTER)


def test_part_of_code_has_the_neighbours_of_the_whole() -> None:
    assert around("DROP INDEX first;") == (LEAD, AFTER)


def test_a_sentence_has_no_neighbour_behind_code_a_table_or_a_heading() -> None:
    assert around("The key is unique.") == ("", "")
    assert around("Rows may be many.") == ("", "")


def test_a_sentence_has_its_neighbours() -> None:
    assert around("It is small.") == (AFTER, "")
