"""Whatever is asked is a query without syntax."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from spadework.tools.library.build import StoreWriter
from spadework.tools.library.document import Document, cut_document
from spadework.tools.library.full_text import (
    StemFinder,
    parse_question,
    space_signs,
    stems,
    word_analyzer,
)
from spadework.tools.library.search import Searcher, snippet


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """A library of three short documents."""
    folder: Path = tmp_path_factory.mktemp("library") / "built"
    texts = {
        "languages.md": (
            "Languages",
            "C++ is compiled. C is older. Java runs on a machine. .NET runs C# code.\n",
        ),
        "letters.md": ("Letters", "C comes after B. The net is dry.\n"),
        "日本.md": ("日本語", "東京は日本の首都です。大阪は大きい。\n"),
        "会议.md": ("会议", "一、停车。地下车库共有126个车位，月租从300元涨到350元。\n"),
    }
    with StoreWriter(folder) as store:
        for name, (title, text) in texts.items():
            document = Document(f"library://notes/{name}", title, text)
            store.add(cut_document(document))
    made = Searcher(folder)
    yield made
    made.store.close()


def paths(searcher: Searcher, text: str) -> list[str]:
    return [found.document.url.rpartition("/")[2] for found in searcher.search(text, 10)]


@given(
    text=st.one_of(
        st.text(max_size=300),
        st.text(alphabet=st.sampled_from("ab +-\"\\:()[]{}~*?^!&|/<>'AND OR NOT TO"), max_size=100),
    )
)
def test_any_text_can_be_searched_for(searcher, text):
    for found in searcher.search(text, 5):
        assert 0 <= found.score <= 1
        assert len(found.snippet) <= 300


@pytest.mark.parametrize("text", ["C++", "c++ language", "C#", ".NET", "What is C#?"])
def test_terms_keep_their_signs(searcher, text):
    assert paths(searcher, text) == ["languages.md"]


def test_scripts_without_spaces_are_searched(searcher):
    assert paths(searcher, "日本の首都") == ["日本.md"]
    assert paths(searcher, "地下车库月租现在多少钱?") == ["会议.md"]


def test_nothing_is_found_for_unknown_words_and_for_no_words(searcher):
    assert paths(searcher, "zyzzyva") == paths(searcher, "") == paths(searcher, " ?! ") == []
    assert searcher.search("C++", 0) == []


def test_words_that_say_what_kind_of_answer_is_wanted_are_not_needed():
    question = parse_question("How do I use LangGraph, for example?")
    assert [term.text for term in question.terms if term.needed] == ["langgraph"]
    assert question.practical


def test_when_nothing_else_is_left_every_word_is_needed():
    assert [term.text for term in parse_question("examples").terms if term.needed] == ["examples"]
    assert [term.text for term in parse_question("What is it?").terms if term.needed] == [
        "what",
        "is",
        "it",
    ]


def test_a_snippet_begins_where_the_words_are():
    passage = (
        "# Pots\n\n"
        + "Pots are round. " * 30
        + "A spoon stirs the soup. It is long.\n\n```\nspoon()\n```\n"
    )
    assert snippet(passage, {"spoon", "soup"}).startswith(
        ("A spoon stirs the soup.", "Pots are round. A spoon", "Pots are round. Pots")
    )
    assert "A spoon stirs the soup." in snippet(passage, {"spoon", "soup"})
    assert snippet("```\nspoon(x)\n```", {"spoon"}) == "spoon(x)"


@given(st.text(max_size=80))
def test_words_taken_one_by_one_are_those_of_the_index(text):
    assert stems(text) == set(word_analyzer().analyze(space_signs(text)))


_WORDS = st.sampled_from(
    (
        "hoping",
        "hope",
        "happy",
        "dying",
        "die",
        "skies",
        "sky",
        "ties",
        "tie",
        "AsyncClient",
        "x9",
        "Zürich",
        "café–bar",
        "日本",
    )
)


@given(
    st.lists(_WORDS | st.text("abihopy s", max_size=8), max_size=12), st.lists(_WORDS, max_size=5)
)
def test_a_few_stems_are_found_as_if_all_words_were_taken(words, wanted):
    text, looked_for = " ".join(words), stems(" ".join(wanted))
    assert StemFinder(looked_for).find(text) == stems(text) & looked_for
