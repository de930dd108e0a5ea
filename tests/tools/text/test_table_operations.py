"""What is computed over the rows of a table, and of which tables nothing is."""

from __future__ import annotations

import pytest

from spadework.tools.text.tables import compute

TOWNS = """| town | county | population | area_km2 |
|---|---|---|---|
| Fenstead | Karrow | 7,997 | 27.1 |
| Kelling | Karrow | 48212 | 3.5 |
| Ashham | Westerley | 57015 | 51.6 |
| Oakham | Karrow | 1200 | 3.2 |
"""
HOURS = """| employee | month | hours |
|---|---|---|
| Tom Ellery | Jul | 100 |
| Tom Ellery | Aug | 106 |
| Odile Moreau | Aug | 93 |
"""


@pytest.mark.parametrize(
    ("question", "kind", "value", "rows"),
    [
        ("Which town has the most inhabitants?", "largest", "57015", 1),
        ("Which town of Karrow has the smallest area?", "smallest", "3.2", 1),
        ("What is the total population of Karrow?", "sum", "57409", 3),
        ("How many towns are in Karrow?", "count", "3", 3),
        ("What is the population of Fenstead?", "row", "7,997", 1),
    ],
)
def test_what_a_question_asks_of_the_rows_of_a_table_is_computed(
    question: str, kind: str, value: str, rows: int
) -> None:
    made = compute(question, "en", f"# Data\n\n{TOWNS}", "towns.csv")
    assert made is not None
    assert (made.kind, made.value, len(made.rows), made.of) == (kind, value, rows, 4)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which boat is the heaviest?", "98"),
        ("Which boat is the largest?", None),
        ("Which boat is the cheapest?", None),
        ("Which plot is the largest?", "180"),
        ("Which tenant is the oldest?", None),
    ],
)
def test_a_superlative_without_a_column_takes_the_one_that_measures_it(
    question: str, value: str | None
) -> None:
    boats = (
        "| boat | year | weight_kg | value |\n|---|---|---|---|\n| Teal | 2018 | 15 | 4100 |\n"
        "| Heron | 2004 | 98 | 950 |\n| Otter | 2016 | 38 | 2400 |\n\n"
        "| plot | tenant | area (m2) | since |\n|---|---|---|---|\n| 1 | Ann | 120 | 2001 |\n"
        "| 2 | Bo | 180 | 2010 |\n| 300 | Cy | 90 | 2011 |\n"
    )
    made = compute(question, "en", boats)
    assert (made and made.value) == value


def test_a_row_is_found_by_two_keys_one_of_them_a_month_in_other_words() -> None:
    made = compute("How many hours did Tom Ellery work in August 2023?", "en", HOURS, "hours 2023")
    assert made is not None
    assert (made.kind, made.value) == ("row", "106")
    assert made.where == "employee = Tom Ellery; month = Aug"


@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Oakham?",
        "What is the population of Harrowgate?",
        "Which lighthouse on the coast has the most visitors?",
        "How many people live there?",
        "What is the population density of Fenstead?",
    ],
)
def test_of_a_table_about_something_else_nothing_is_computed(question: str) -> None:
    assert compute(question, "en", TOWNS, "towns.csv") is None
