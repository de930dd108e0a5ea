"""Documents are cut without breaking code, and know which names their code uses."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from spadework.tools.library.document import Document, packages_of, pieces
from spadework.tools.library.python_sources import count_uses, defined_names, used_names

CODE = """\
# Use

Prose names pkg.not_used here.

```pycon
>>> from pkg.soup import (
...     Pot,
...     stir as s,
... )
>>> import other
>>> other.deep.call(1)
```
"""


def test_names_in_code_are_used_names():
    assert used_names(CODE) == {"pkg.soup", "pkg.soup.Pot", "pkg.soup.stir", "other.deep.call"}


def test_what_others_use_is_counted_and_own_use_is_not():
    defining = "## class pkg.soup.Pot(size)\n\n### Pot.fill()\n"
    assert defined_names(defining) == ["pkg.soup.Pot"]
    own = (1, defined_names(defining), frozenset({"pkg.soup.Pot"}))
    others = [(number, [], used_names(CODE)) for number in (2, 3)]
    assert list(count_uses([own, *others])) == [(2, 1)]


def test_a_package_goes_by_the_names_it_is_installed_and_imported_under():
    assert packages_of("library://python-dateutil-4.0.0/dateutil/tz/tz.py") == {
        "python-dateutil",
        "dateutil",
    }
    assert packages_of("library://python-3.11.7/compiled/itertools") == {"python", "itertools"}
    assert packages_of("library://notes/dateutil/tz.md") == set()


def test_a_piece_knows_the_headings_above_it_and_code_is_never_cut():
    code = "```\n" + "x = 1\n" * 500 + "```"
    text = f"# A\n\n{'word ' * 300}\n\n## B\n\n{code}\n\n{'more ' * 300}\n"
    found = pieces(Document("library://notes/a.md", "A", text), 1_000)
    assert [piece.heading for piece in found][:1] == ["A"]
    assert {"A > B"} == {piece.heading for piece in found if piece.start >= text.index("## B")}
    assert [piece for piece in found if code in text[piece.start : piece.end]]


@given(
    st.lists(
        st.sampled_from(
            [
                "# A",
                "## B",
                "words of a paragraph. " * 10,
                "```\ncode\n```",
                "| a |\n| --- |\n| b |",
                "- item",
            ]
        ),
        max_size=20,
    )
)
def test_pieces_cover_every_block_in_order(blocks):
    text = "\n\n".join(blocks)
    found = pieces(Document("library://notes/a.md", "A", text), 300)
    assert " ".join(text[piece.start : piece.end] for piece in found).split() == text.split()
    assert all(before.end <= after.start for before, after in pairwise(found))
