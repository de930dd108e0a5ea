"""What is computed over the rows of a table, and of which tables nothing is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.tools.text.table_operations import compute

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


@pytest.mark.parametrize(
    ("names", "row", "value"),
    [
        ("| Engine | Oil | Year |", "| GX 160 | 10W-30 | 1990 |", "10W-30"),
        ("| | Oil | Year |", "| GX 160 | 10W-30; 5W-30 | 1990 |", "10W-30; 5W-30"),
        ("| Engine | Note | Year |", "| GX 160 | quiet; Oil: unknown | 1990 |", None),
        ("| Engine | Oil | Year |", "| GX 160 | | 1990 |", None),
    ],
)
def test_a_row_answers_with_the_cell_of_the_column_that_is_asked_for(
    names: str, row: str, value: str | None
) -> None:
    table = f"# Engines\n\n{names}\n|---|---|---|\n{row}\n"
    made = compute("Which oil does the engine GX 160 get?", "en", table)
    assert (made and made.value) == value


PRESSES = """| number | press | year made | weight kg | working | how acquired | room |
|---|---|---|---|---|---|---|
| 7.1 | Albion hand press | 1847 | 820 | yes | purchase | press room |
| 7.2 | Columbian | 1836 | 1150 | no | gift | press room |
| 7.3 | Minerva | 1879 | 540 | yes | gift | attic |
"""
CREW = """| name | joined | usual day | shifts | places | booked |
|---|---|---|---|---|---|
| Ada Brant | 2008-04-11 | Sat | 30 | 8 | 8 |
| Bo Lund | 1998-06-05 | Fri | 48 | 6 | 2 |
| Cy Marr | 2015-08-30 | Sat | 12 | 4 | 1 |
"""


@pytest.mark.parametrize(
    ("question", "table", "where", "value"),
    [
        ("Which presses were made before 1850?", PRESSES, "year made < 1850", "2"),
        ("Which presses weigh more than 700 kg?", PRESSES, "weight kg > 700", "2"),
        ("Which presses are not working?", PRESSES, "working = no", "1"),
        ("How many presses were made between 1840 and 1880?", PRESSES, None, "2"),
        ("How many presses stand in the press room?", PRESSES, "room = press room", "2"),
        ("Who joined in 1998?", CREW, "joined = 1998", "1"),
        ("Who joined after 2005-01-01?", CREW, "joined > 2005-01-01", "2"),
        ("How many of the crew come on Saturdays?", CREW, "usual day = Sat", "2"),
    ],
)
def test_rows_are_listed_and_counted_by_what_a_question_says_of_a_column(
    question: str, table: str, where: str | None, value: str
) -> None:
    made = compute(question, "en", table, "crew of the presses")
    assert made is not None
    assert (made.kind, made.value, len(made.rows)) == ("count", value, int(value))
    assert where is None or made.where == where


@pytest.mark.parametrize(
    ("question", "kind", "value"),
    [
        ("How heavy is the Albion?", "row", "820"),
        ("When did Bo Lund join?", "row", "1998-06-05"),
        ("How many places are booked in all?", "sum", "11"),
        ("What is the average of shifts?", "mean", "30"),
        ("How many presses are there?", "count", "3"),
    ],
)
def test_one_value_is_read_or_computed(question: str, kind: str, value: str) -> None:
    table = PRESSES if "Albion" in question or "presses" in question else CREW
    made = compute(question, "en", table, "presses" if table == PRESSES else "crew")
    assert made is not None
    assert (made.kind, made.value) == (kind, value)


@pytest.mark.parametrize(
    "question",
    [
        "What is the serial number of the Columbian?",
        "How heavy is the Stanhope?",
        "How many visitors came in 1847?",
        "Which engines were made before 1850?",
        "How many presses were made before 1850 in 2020?",
    ],
)
def test_a_condition_that_the_table_does_not_hold_computes_nothing(question: str) -> None:
    assert compute(question, "en", PRESSES, "list of presses") is None


def test_in_german_rows_are_compared_too() -> None:
    table = CREW.replace("joined", "Eintritt").replace("name", "Name")
    made = compute("Welche Helfer hatten ihren Eintritt vor 2005?", "de", table, "Helfer")
    assert made is not None
    assert (made.value, made.where) == ("1", "Eintritt < 2005")


ISLANDS = "| island | | since |\n|---|---|---|\n| Sark | 5 | 1900 |\n| Herm | 2 | 1911 |\n"
STONES = "| stone | mass | year |\n|---|---|---|\n| Opal | 3 | 1990 |\n| Jade | 2 | 1991 |\n"
EMPTY = "| town | population | area |\n|---|---|---|\n| Fenstead | | 4 |\n| Kelling | | 5 |\n"


@pytest.mark.parametrize(
    ("question", "code", "table"),
    [
        ("How large is Sark?", "en", ISLANDS),
        ("Which town has the largest population?", "en", EMPTY),
        ("What is the total population of the towns?", "en", EMPTY),
        ("What is the average population of the towns?", "en", EMPTY),
        ("Which stones have a mass above 3/4?", "en", STONES),
        ("Which stones have a mass between 5-10 and 20 kg?", "en", STONES),
    ],
)
def test_without_figures_that_can_be_read_nothing_is_computed(
    question: str, code: str, table: str
) -> None:
    assert compute(question, code, table, "towns, stones") is None


PARTS = (
    "", "Sark", "Karrow", "yes", "no", "12", "−12", "(20)", "1,234", "1.234", "1,5", "3/4", "500 g",
    "2 kg", "$1.2 million", "04/11/2020", "31.02.2020", "2020-13-41", "2020", "Total", "5-10", "|",
)  # fmt: skip
ASKED = (
    "How many", "largest", "total", "average", "not", "except", "before", "in", "more than", "mehr als",
    "between", "and", "mass", "town", "How large is", "Which", "second", "three", "wie viele", "kg",
)  # fmt: skip
ROWS = st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=5), min_size=1, max_size=6)


@given(
    names=st.lists(st.sampled_from(("", "town", "mass", "weight kg", "made")), min_size=3),
    rows=ROWS,
    words=st.lists(st.sampled_from(ASKED + PARTS), max_size=8),
    code=st.sampled_from(("en", "de", "fr", "ja", "zh", "xx")),
)
def test_no_table_and_question_raise(
    names: list[str], rows: list[list[str]], words: list[str], code: str
) -> None:
    lines = [names, ["---"] * len(names), *rows]
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    compute(" ".join(words), code, text, "mass of towns")
