"""Keeping a search to sites, paths, kinds and dates; copies do not fill the results."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from spadework.errors import SearchError
from spadework.tools.library.build import StoreWriter
from spadework.tools.library.document import COPY, Document, cut_document, resemblance, sketch
from spadework.tools.library.search import Searcher

PAPER = (
    "Heat is measured in the pot, at noon. Steam rises from it; the lid is heavy. Soup is done when"
    " the spoon stands. Salt comes last."
)


def dated(year: int) -> datetime:
    return datetime(year, 3, 1, tzinfo=UTC)


DOCUMENTS = [
    Document(
        "library://notes/soup/onion.md", "Onion", "The onion soup is hot.\n", dated(2023), kind="md"
    ),
    Document(
        "library://notes/Soup%20Old/leek.pdf",
        "Leek",
        "The leek soup is hot.\n",
        kind="pdf",
        changed_at=dated(2021),
    ),
    Document(
        "library://docs.kitchen.org/soup/onion.html",
        "Kitchen",
        "The hot soup of a kitchen.\n",
        dated(2025),
        kind="html",
    ),
    Document("library://ladle-1.2.0/README.md", "ladle", "A ladle for hot soup.\n"),
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Four documents about hot soup, and three that are nearly the same."""
    folder = tmp_path_factory.mktemp("library") / "built"
    with StoreWriter(folder) as store:
        for document in DOCUMENTS:
            store.add(cut_document(document))
        for n in range(3):
            store.add(
                cut_document(
                    Document(
                        f"library://papers/{n}.html",
                        f"Version {n}",
                        f"{PAPER} Version {n}, printed on page {n}.",
                    )
                )
            )
    made = Searcher(folder)
    yield made
    made.store.close()


@pytest.mark.parametrize(
    ("operators", "titles"),
    [
        ("", {"Onion", "Leek", "Kitchen", "ladle"}),
        ("site:notes", {"Onion", "Leek"}),
        ("site:kitchen.org", {"Kitchen"}),
        ("site:org", set()),
        ("site:ladle", {"ladle"}),
        ("site:ladle-1.2.0 ", {"ladle"}),
        ("site:notes site:ladle", {"Onion", "Leek", "ladle"}),
        ("-site:notes", {"Kitchen", "ladle"}),
        ("path:soup", {"Onion", "Kitchen"}),
        ("path:/SOUP/ site:notes", {"Onion"}),
        ('path:"soup old"', {"Leek"}),
        ("path:soup/onion.md", {"Onion"}),
        ("path:sou", set()),
        ("-path:soup", {"Leek", "ladle"}),
        ("kind:pdf", {"Leek"}),
        ("kind:markdown kind:htm", {"Onion", "Kitchen"}),
        ("-kind:md", {"Leek", "Kitchen", "ladle"}),
        ("after:2023", {"Onion", "Kitchen"}),
        ("before:2023-03-01", {"Leek"}),
        ("after:2023-03-01 before:2023-03-02", {"Onion"}),
        ("after:2030", set()),
        ("kind:pdf site:docs.kitchen.org", set()),
    ],
)
def test_a_search_is_kept_to_what_its_operators_say(searcher, operators, titles):
    assert {
        found.document.title
        for found in searcher.search(f"hot soup {operators}", 10)
        if found.document.url[10:16] != "papers"
    } == titles


def test_an_unknown_kind_is_named(searcher):
    with pytest.raises(
        SearchError, match=r"^kind:movie is not a file type that a library supports\.$"
    ):
        searcher.search("soup kind:movie", 5)


def test_of_copies_the_best_is_shown_and_others_take_their_places(searcher):
    found = searcher.search("When does the spoon stand in the soup?", 3)
    assert [each.document.url.rpartition("/")[0] for each in found].count("library://papers") == 1
    assert len(found) == 3


@given(
    st.lists(
        st.text("abcdefghij ", min_size=15, max_size=40), min_size=12, max_size=40, unique=True
    ),
    st.integers(0, 11),
)
def test_one_changed_clause_leaves_a_copy_and_half_of_them_does_not(clauses, changed):
    text = ". ".join(clauses)
    if resemblance(sketch(text), sketch(text)) < 1:
        return  # too few clauses that say anything
    other = [
        clause if n % 2 else f"entirely other words {n * 'x'}" for n, clause in enumerate(clauses)
    ]
    assert resemblance(sketch(text), sketch(". ".join(other))) < COPY
    assert resemblance(sketch(text), sketch(text.replace(" ", "  ").upper() + " 2024")) == 1
