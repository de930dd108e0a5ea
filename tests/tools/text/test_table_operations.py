"""What is computed over the rows of a table, and of which tables nothing is."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

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
    "Which town has the largest {name}?", "What is the total {name} of the towns?",
    "How large is {part}?",
    "What is the average {name} of {part}?", "Which towns have a {name} above {part}?",
    "{part} {name}",
    "Which town of {part} has the smallest {name}?", "How many towns are not in {part}?",
    "How many towns have a {name} between {part} and {part}?",
    "Which towns were made after {part}?",
    "Welche Orte haben mehr als {part} {name}?", "What is the second largest {name}?",
)  # fmt: skip
ROWS = st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=5), min_size=1, max_size=6)


@given(
    names=st.lists(st.sampled_from(("", "town", "mass", "weight kg", "made")), min_size=3),
    rows=ROWS,
    question=st.sampled_from(ASKED),
    part=st.sampled_from(PARTS),
    code=st.sampled_from(("en", "de", "fr", "ja", "zh", "xx")),
)
def test_no_table_and_question_raise(
    names: list[str], rows: list[list[str]], question: str, part: str, code: str
) -> None:
    lines = [names, ["---"] * len(names), *rows]
    text = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    compute(question.format(name=names[1], part=part), code, text, "mass of towns")


def table(names: str, *rows: str) -> str:
    lines = [names, "---|---|---", *rows]
    return "".join(f"| {line} |\n" for line in lines)


def column(name: str, *values: str) -> str:
    """A table of three rocks with these values."""
    rows = zip(("Opal", "Jade", "Onyx", "Topaz"), values, strict=False)
    return table(f"rock | {name} | place", *(f"{rock} | {value} | Sark" for rock, value in rows))


@pytest.mark.parametrize(
    ("question", "code", "text", "value"),
    [
        ("Which rock has the smallest depth?", "en", column("depth", "−12", "3", "-4"), "−12"),
        ("Which rock has the largest change?", "en", column("change", "(20)", "3", "4"), None),
        (
            "Which rock has the largest value?",
            "en",
            column("value", "$900 thousand", "$1.2 million"),
            "$1.2 million",
        ),
        ("Which rock has the largest value?", "en", column("value", "$9", "€12"), None),
        ("Which rock has the largest weight?", "en", column("weight", "500 g", "2 kg"), "2 kg"),
        ("Which rock has the largest weight?", "en", column("weight", "500", "2 kg"), None),
        ("What is the total weight of the rocks?", "en", column("weight", "500 g", "2 kg"), None),
        ("What is the total weight of the rocks?", "en", column("weight", "3 kg", "2 kg"), "5 kg"),
        ("Which rock has the largest size?", "en", column("size", "180 cm", "1.9 m"), "1.9 m"),
        ("Which rock has the largest weight?", "en", column("weight", "2 kg", "3 m"), None),
        ("Which rock has the largest weight?", "en", column("weight", "2", "n/a", "9"), None),
        ("Welcher Stein hat das höchste Alter?", "de", column("Alter", "1.234", "980"), None),
        (
            "Welcher Stein hat das höchste Alter?",
            "de",
            column("Alter", "1.234,5", "980"),
            "1.234,5",
        ),
        ("Welcher Stein hat das höchste Alter?", "de", column("Alter", "27.1", "980"), "980"),
    ],
)
def test_the_figures_of_a_column_are_read_in_one_way_and_one_dimension(
    question: str, code: str, text: str, value: str | None
) -> None:
    made = compute(question, code, text, "rocks Steine")
    assert (made and made.value) == value


@pytest.mark.parametrize(
    ("question", "code", "text", "where"),
    [
        (
            "Which rocks have a value of more than 1 million?",
            "en",
            column("value", "900000", "2000000"),
            "value > 1 million",
        ),
        (
            "Which rocks have a value between 1 and 2 million?",
            "en",
            column("value", "900000", "1500000", "3000000"),
            "value ≥ 1 million; value ≤ 2 million",
        ),
        (
            "Which rocks have a weight of more than 1500 g?",
            "en",
            column("weight kg", "1", "2"),
            "weight kg > 1500 g",
        ),
        ("Which rocks have a weight above 2 m?", "en", column("weight kg", "1", "3"), None),
        ("Which rocks have a weight above 2 kg?", "en", column("weight", "1", "3"), None),
        ("Which rocks have a weight above 2?", "en", column("weight", "1 kg", "3 kg"), None),
        (
            "Welche Steine haben mehr als 1,5 Gewicht?",
            "de",
            column("Gewicht", "1", "2"),
            "Gewicht > 1,5",
        ),
        ("Welche Steine haben mehr als 1.000 Alter?", "de", column("Alter", "1", "2000"), None),
    ],
)
def test_a_comparison_is_made_in_the_unit_of_the_column(
    question: str, code: str, text: str, where: str | None
) -> None:
    made = compute(question, code, text, "rocks Steine")
    assert (made and made.where) == where


@pytest.mark.parametrize(
    "question",
    [
        "How many towns are not in Karrow?",
        "How many towns are outside Karrow?",
        "How many towns are there except in Karrow?",
        "How many towns are there without Karrow?",
        "Which town has the second largest population?",
        "What are the three largest towns by population?",
        "Which are the largest two towns by population?",
    ],
)
def test_what_is_left_out_or_ranked_is_not_computed(question: str) -> None:
    assert compute(question, "en", TOWNS, "towns.csv") is None


def test_at_most_is_neither_a_negation_nor_a_maximum() -> None:
    made = compute("How many presses weigh no more than 820 kg?", "en", PRESSES, "presses")
    assert made is not None
    assert (made.kind, made.value) == ("count", "2")


def test_a_negation_with_another_condition_is_not_computed() -> None:
    question = "Which presses in the press room are not working?"
    assert compute(question, "en", PRESSES, "presses") is None


@pytest.mark.parametrize(
    ("last", "value"),
    [
        ("Total | | 300 | 6", "300"),
        (" | | 300 | 6", "300"),
        ("All of them | | 300 | 6", "300"),
        ("Onyx | Herm | 300 | 7", "600"),
    ],
)
def test_a_row_of_totals_is_no_data(last: str, value: str) -> None:
    text = (
        "| rock | place | weight | age |\n|---|---|---|---|\n| Opal | Sark | 100 | 2 |\n"
        f"| Jade | Herm | 200 | 4 |\n| {last} |\n"
    )
    made = compute("What is the total weight of the rocks?", "en", text, "rocks")
    assert (made and made.value) == value


def test_a_last_row_that_may_be_a_total_leaves_all_open() -> None:
    text = column("weight", "100", "200", "300")
    assert compute("What is the total weight of the rocks?", "en", text, "rocks") is None


def test_short_rows_are_padded_and_a_table_with_longer_rows_is_left_out() -> None:
    rows = ["Opal | 3 | Sark", "Jade | 9"]
    question = "Which rock has the largest weight?"
    made = compute(question, "en", table("rock | weight | place", *rows), "rocks")
    assert made is not None
    assert made.value == "9"
    longer = table("rock | weight | place", *rows, "Onyx | 1 | Sark | 12")
    assert compute(question, "en", longer, "rocks") is None


def test_figures_of_a_comparison_and_cells_of_figures_are_no_keys() -> None:
    text = table("room | beds | note", "Attic | 5 | quiet", "Hall | 5 | 5,5", "Tower | 2 | old")
    made = compute("How many rooms have 5 beds?", "en", text, "rooms")
    assert made is not None
    assert (made.where, made.value) == ("beds = 5", "2")
    land = table("Ort | Fläche | Einwohner", "Ulm | 27,1 | 500", "Jena | 3,5 | 1000 bis 2000")
    made = compute("Welche Orte haben mehr als 1.000 Einwohner?", "de", land, "Orte")
    assert made is None


def test_a_condition_names_all_its_values() -> None:
    made = compute("How many towns are in Karrow or Westerley?", "en", TOWNS, "towns.csv")
    assert made is not None
    assert (made.where, made.value) == ("county = Karrow, Westerley", "4")


@pytest.mark.parametrize(
    ("days", "value"),
    [
        (("04/11/2020", "25/03/2020", "01/12/2019"), "2"),
        (("11/04/2020", "03/25/2020", "12/01/2019"), "2"),
        (("04/11/2020", "05/03/2020", "01/12/2019"), None),
        (("31.02.2020", "05.03.2020", "01.12.2019"), None),
        (("2020-05", "2020-03", "2019-12"), "2"),
    ],
)
def test_the_order_of_day_and_month_is_that_of_the_whole_column(
    days: tuple[str, ...], value: str | None
) -> None:
    text = column("found", *days)
    made = compute("How many rocks were found after 2019?", "en", text, "rocks")
    assert (made and made.value) == value


def test_a_month_is_not_compared_with_a_day() -> None:
    text = column("found", "2020-05", "2020-03")
    assert compute("Which rocks were found after 2020-03-15?", "en", text, "rocks") is None


def test_of_two_equally_good_tables_with_different_values_nothing_is_computed() -> None:
    question = "What is the total weight of the rocks?"
    one, other = column("weight", "1", "5"), column("weight", "2", "7")
    assert compute(question, "en", f"{one}\n{other}", "rocks") is None
    made = compute(question, "en", f"{one}\n{one}", "rocks")
    assert made is not None
    assert made.value == "6"


def test_what_has_a_named_but_unread_column_is_not_counted_instead() -> None:
    text = TOWNS.replace("7,997", "7,997 to 8,000")
    for question in (
        "What is the total population of Karrow?",
        "What is the population of Karrow?",
    ):
        assert compute(question, "en", text, "towns.csv") is None


def test_what_a_column_of_figures_counts_is_not_counted_by_rows() -> None:
    assert compute("How many people live in Karrow?", "en", TOWNS, "towns.csv") is None


def test_a_scale_without_a_space_is_told() -> None:
    text = table("町 | 人口 | 面積", "甲町 | 900000 | 5", "乙町 | 2000000 | 7")
    made = compute("人口が100万以上の町はいくつありますか", "ja", text, "町")
    assert made is not None
    assert (made.where, made.value) == ("人口 ≥ 100万", "1")
