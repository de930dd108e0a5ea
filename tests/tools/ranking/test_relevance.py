"""Relevance has the exact values of its formula."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.tools.ranking.relevance import STOP_WORDS, priority, query_terms, relevance


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What is Terraform and how do I use it?", ["terraform", "use"]),
        ("What is C++ and how does AI use .NET with gpt-5?", ["c++", "ai", "use", ".net", "gpt-5"]),
        ("C# or node.js: which one?", ["c#", "node.js", "one"]),
        ("the IT sector's R&D in the US", ["it", "sector", "r&d", "us"]),
        ("let us see what it is", ["see"]),
        ("WHAT IS AI", ["ai"]),
        ("TCP/IP and/or CI/CD, input/output", ["tcp/ip", "ci/cd", "input", "output"]),
        ("S3, 5G and k8s vs. 42", ["s3", "5g", "k8s"]),
        (
            "Python 3.12: asyncio.TaskGroup, __init__ and _foo_",
            ["python", "3.12", "asyncio.taskgroup", "__init__", "foo"],
        ),
        ("state-of-the-art e-mail", ["state-of-the-art", "e-mail"]),
        ("Don't panic! It's Python\u2019s GIL; we're fine.", ["panic", "python", "gil", "fine"]),
        ("pip PIP Pip install", ["pip", "install"]),
        ("C and R, but not a and I", ["c", "r"]),
        ("什么 是 人工智能", ["人工智能"]),
        ("中国的首都是哪里", ["中国", "首都"]),
        ("日本の首都はどこですか", ["日本", "首都"]),
        ("Was ist die Hauptstadt von Frankreich?", ["hauptstadt", "frankreich"]),
        ("Quelle est la hauteur de la tour Eiffel ?", ["hauteur", "tour", "eiffel"]),
        ("who is the", []),
        ("?! -- ...", []),
        ("", []),
    ],
)
def test_the_terms_of_a_query(query: str, terms: list[str]):
    assert query_terms(query) == terms


@pytest.mark.parametrize(
    ("title", "snippet", "position", "terms", "score"),
    [
        ("Terraform guide", "Learn Terraform basics", 1, ["terraform", "basics"], 0.85),
        ("Terraform basics", "Terraform: the basics", 1, ["terraform", "basics"], 1.0),
        ("", "", 1, ["terraform"], 0.4),
        ("", "", 10, ["terraform"], 0.04),
        ("", "", 11, ["terraform"], 0.036),
        ("", "", 14, ["terraform"], 0.024),
        ("", "", 15, ["terraform"], 0.02),
        ("", "", 500, ["terraform"], 0.02),
        ("one", "", 6, ["one", "two", "three"], 0.3),
        ("one two", "three", 2, ["one", "two", "three"], 0.66),
        ("anything", "at all", 1, [], 1.0),
        ("anything", "at all", 3, [], 0.8),
        ("anything", "at all", 12, [], 0.08),
    ],
)
def test_relevance_is_exact(
    title: str, snippet: str, position: int, terms: list[str], score: float
):
    assert relevance(title, snippet, position, terms) == score


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("python", "PYTHON's way"),
        ("index", "All indexes"),
        ("databases", "a database"),
        ("library", "libraries"),
        ("c++", "Modern C++17"),
        (".net", "ASP.NET and .NET"),
        ("gpt-5", "GPT 5 is here"),
        ("gpt-5", "gpt-5 is here"),
        ("open-source", "open source"),
        ("node.js", "Node.js."),
        ("ai", "使用AI的方法"),
        ("人工智能", "使用人工智能的方法"),
        ("c", "written in C."),
    ],
)
def test_a_term_is_present_in_its_usual_forms(term: str, text: str):
    assert relevance(text, "", 10, [term]) == 0.34


def test_of_a_term_without_spaces_the_share_of_its_pairs_counts():
    assert relevance("人工智能", "", 10, ["人工智能"]) == 0.34
    assert relevance("人工的 智能", "", 10, ["人工智能"]) == 0.24
    assert relevance("经济", "", 10, ["人工智能"]) == 0.04


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("java", "JavaScript"),
        ("ai", "said in rain"),
        ("gpt-5", "gpt-50"),
        ("3.1", "3.11 and 13.1"),
        ("c", "C++ and C#"),
        ("node.js", "nodexjs"),
        ("cat", "concatenate"),
    ],
)
def test_a_longer_word_is_not_the_term(term: str, text: str):
    assert relevance(text, "", 10, [term]) == 0.04


@given(st.text(), st.text(), st.integers(-5, 1000), st.text())
def test_relevance_lies_between_0_and_1(title: str, snippet: str, position: int, query: str):
    assert 0 <= relevance(title, snippet, position, query_terms(query)) <= 1


@given(st.text(), st.text(), st.text(), st.integers(1, 50))
def test_a_later_place_is_never_better(title: str, snippet: str, query: str, position: int):
    terms = query_terms(query)
    assert relevance(title, snippet, position, terms) >= relevance(
        title, snippet, position + 1, terms
    )


@given(st.text())
def test_a_text_of_the_terms_has_them_all(query: str):
    terms = query_terms(query)
    assert relevance(" ".join(terms), ", ".join(terms), 1, terms) == 1.0


@given(st.text())
def test_terms_are_lower_case_without_repeats_or_stop_words(query: str):
    terms = query_terms(query)
    assert len(terms) == len(set(terms))
    assert all(term == term.lower() and not set(term) & set(' ?!,;:"()') for term in terms)
    assert not (set(terms) & STOP_WORDS) - {"it", "us", "who"}


@pytest.mark.parametrize(
    ("domain", "relevance_", "cached", "quality", "score"),
    [
        (1, 1, True, 1, 1.0),
        (0, 0, False, 0, 0.0),
        (1, 0, False, 0, 0.4),
        (0, 1, False, 0, 0.3),
        (0, 0, True, 0, 0.2),
        (0, 0, False, 1, 0.1),
    ],
)
def test_priority_is_exact(
    domain: float, relevance_: float, cached: bool, quality: float, score: float
):
    assert priority(domain, relevance_, cached, quality) == score
