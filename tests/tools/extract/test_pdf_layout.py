"""PDF pages as they are laid out: headings by size and weight, columns, ruled tables, code, and
words broken over lines.
"""

from __future__ import annotations

import textwrap

import pytest

from spadework.tools.extract.pdf.reader import extract_pdf
from tests.tools.extract.files import drawn_pdf

URL = "https://example.com/dues.pdf"
LEFT = (
    "The winter tide reached the second step of the harbour office, and the boats lay there for one"
    " night or for many nights. " * 3
)
RIGHT = (
    "Right of it stands the lighthouse with its keeper, who writes the log in pencil and keeps the"
    " lamp clean all the winter. " * 3
)


def words(text: str, x: float, y: float, *, font: int = 1, size: float = 10) -> bytes:
    return b"BT /F%d %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n" % (
        font,
        size,
        x,
        y,
        text.encode("cp1252"),
    )


def prose(text: str, y: float, *, x: float = 60, width: int = 90) -> bytes:
    return b"".join(words(line, x, y - 13 * n) for n, line in enumerate(textwrap.wrap(text, width)))


def read(*pages: bytes) -> list[str]:
    return extract_pdf(drawn_pdf(*pages), URL).markdown.split("\n\n")


def table(rows: list[list[str]], *, across: list[int], top: int, height: int = 20) -> bytes:
    """Cells with rules around them."""
    bottom = top - height * len(rows)
    drawn = b"".join(b"%d %d m %d %d l S\n" % (x, bottom, x, top) for x in across)
    drawn += b"".join(
        b"%d %d m %d %d l S\n" % (across[0], top - height * n, across[-1], top - height * n)
        for n in range(len(rows) + 1)
    )
    cells = [
        (cell, across[c] + 4, top - height * (r + 1) + 6)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
        if cell
    ]
    return drawn + b"".join(words(cell, x, y) for cell, x, y in cells)


def test_headings_have_levels_by_their_size_and_weight():
    page = (
        words("Harbour dues", 60, 800, size=24)
        + prose(LEFT, 760)
        + words("Small boats", 60, 690, size=15)
        + prose(LEFT, 660)
    )
    page += (
        words("Exceptions", 60, 590, font=2)
        + prose(RIGHT, 570)
        + words("Large boats", 60, 500, size=15.2)
        + prose(RIGHT, 480)
    )
    found = read(page)
    assert [block for block in found if block.startswith("#")] == [
        "# Harbour dues",
        "## Small boats",
        "### Exceptions",
        "## Large boats",
    ]
    assert extract_pdf(drawn_pdf(page), URL).title == "Harbour dues"


@pytest.mark.parametrize(
    "by_rows", [True, False], ids=["drawn row by row", "drawn column by column"]
)
def test_columns_are_read_one_after_the_other(by_rows):
    left = [words(line, 60, 760 - 13 * n) for n, line in enumerate(textwrap.wrap(LEFT, 42))]
    right = [words(line, 310, 760 - 13 * n) for n, line in enumerate(textwrap.wrap(RIGHT, 42))]
    drawn = (
        [part for row in zip(left, right, strict=False) for part in row]
        if by_rows
        else left + right
    )
    page = words("Of harbours and lights", 60, 800, size=16) + b"".join(drawn) + prose(LEFT, 500)
    text = " ".join(read(page))
    assert text.count(LEFT.strip()) == 2
    assert text.index(LEFT.strip()) < text.index(RIGHT[:200]) < text.rindex(LEFT.strip())


def test_values_side_by_side_stay_beside_each_other():
    page = b"".join(
        words(name, 60, 800 - 20 * n) + words(f"{n}4 crowns", 400, 800 - 20 * n)
        for n, name in enumerate(("small", "long") * 4)
    )
    assert "small 04 crowns" in " ".join(read(page))


def test_a_line_that_ends_in_figures_is_a_row_of_its_own():
    rows = ["Grants paid 44,959.18 559", "Fuel for boats (1,421) -3.25", "Rent of rooms 18 9.5 %"]
    assert read(b"".join(words(row, 60, 700 - 13 * n) for n, row in enumerate(rows))) == rows


def test_ruled_tables_are_tables_where_they_stand():
    rows = [
        ["Boat", "Dues", "Note"],
        ["under ten metres", "14", "a night | day"],
        ["longer", "22", ""],
    ]
    found = read(
        prose(LEFT, 800) + table(rows, across=[60, 200, 260, 400], top=700) + prose(RIGHT, 600)
    )
    shown = (
        "| Boat | Dues | Note |\n| --- | --- | --- |\n| under ten metres | 14 | a night \\| day"
        " |\n| longer | 22 |  |"
    )
    assert found[0].startswith("The winter tide")
    assert found[1] == shown
    assert found[2].startswith("Right of it")


def test_two_tables_of_a_page_are_two_and_a_frame_is_none():
    two = table([["a", "b"], ["1", "2"]], across=[60, 200, 300], top=700) + table(
        [["c", "d"], ["3", "4"]], across=[60, 160, 300], top=500
    )
    found = read(two + b"50 300 400 60 re S\n" + prose("A text in a frame.", 340))
    assert [block.split("\n")[0] for block in found] == [
        "| a | b |",
        "| c | d |",
        "A text in a frame.",
    ]


def test_code_keeps_its_lines_and_its_indentation():
    code = ["def dues(metres):", "    if metres < 10:", "        return 14", "", "    return 22"]
    page = prose(LEFT, 800) + b"".join(
        words(line.strip(), 60 + 6 * (len(line) - len(line.lstrip())), 700 - 12 * n, font=3)
        for n, line in enumerate(code)
        if line
    )
    assert read(page + prose(RIGHT, 600))[1:-1] == [
        "```\ndef dues(metres):\n    if metres < 10:\n        return 14",
        "    return 22\n```",
    ]


def test_a_table_of_contents_has_a_line_for_each_entry_and_no_headings():
    entries = [
        "1 Tides . . . . . . . . . . 2",
        "1.1 High tides . . . . . . . 3",
        "2 Dues . . . . . . . . . . 9",
    ]
    page = b"".join(
        words(entry, 60, 700 - 13 * n, font=2, size=12) for n, entry in enumerate(entries)
    ) + prose(LEFT * 3, 600)
    assert read(page)[:3] == entries


def test_a_drawing_of_many_rules_is_no_table():
    page = b"".join(
        b"%d 0 m %d 800 l S 0 %d m 500 %d l S\n" % (n, n, n, n) for n in range(0, 2_000)
    ) + prose(LEFT, 700)
    assert read(page)[0].startswith("The winter tide")


def aligned(rows: list[list[str]], *, across: list[int], top: int, height: int = 13) -> bytes:
    """Cells in columns without rules."""
    return b"".join(
        words(cell, across[c], top - height * r)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
        if cell
    )


BOATS = [
    ["Boat", "Dues", "Since"],
    ["under ten metres", "14", "1998"],
    ["longer", "22", "1998"],
    ["yachts of guests", "30", "2004"],
]


@pytest.mark.parametrize("over", [True, False], ids=["caption over it", "caption under it"])
def test_columns_beside_a_caption_are_a_table(over):
    caption = words("Table 2: What boats pay, in crowns a night.", 60, 690 if over else 620)
    page = prose(LEFT, 800) + caption + aligned(BOATS, across=[60, 150, 182], top=672)
    found = read(page + prose(RIGHT, 560))
    shown = "\n".join(f"| {' | '.join(row)} |" for row in BOATS)
    assert shown.replace("\n", "\n| --- | --- | --- |\n", 1) in found
    assert "Table 2: What boats pay, in crowns a night." in found
    assert found[0].startswith("The winter tide")
    assert found[-1].startswith("Right of it")


def test_cells_that_are_empty_or_go_on_keep_their_columns():
    rows = [
        ["Boat", "Dues", "Note"],
        ["small", "", "free"],
        ["large", "22", "with"],
        ["ships", "", ""],
    ]
    page = words("Table 1. Dues", 60, 700) + aligned(
        [*rows, ["and others", "40", "late"]], across=[60, 180, 260], top=680
    )
    assert "| small |  | free |" in "\n".join(read(page))


def test_prose_below_a_mention_of_a_table_stays_prose():
    page = words("Table 3 shows what boats pay.", 60, 700) + prose(LEFT, 680)
    assert not any(block.startswith("|") for block in read(page))


def scripted(before: str, script: str, after: str, y: float, *, rise: int = 4) -> bytes:
    """A line with small letters in it, `rise` points above the others."""
    parts = (text.encode("cp1252") for text in (before, script, after))
    return (
        b"BT /F1 10 Tf 1 0 0 1 60 %g Tm (%s) Tj /F1 6 Tf %d Ts (%s) Tj /F1 10 Tf 0 Ts (%s) Tj ET\n"
    ) % (y, next(parts), rise, next(parts), next(parts))


@pytest.mark.parametrize(
    ("before", "script", "after", "rise", "shown"),
    [
        ("It was built in 1961", "3", " by the county", 4, "1961^3 by"),
        ("It holds 3.6 x 10", "-5", " litres", 4, "3.6 x 10^-5 litres"),
        ("Each has 12 km", "2", " of land", 4, "12 km^2 of"),
        ("Much CO", "2", " is in it", -2, "CO2 is"),
        ("The base of log", "2", "8 is two", -2, "log_2 8"),
        ("It grows as e", "x+1", " does", 4, "e^(x+1) does"),
        ("In the 19", "th", " century", 4, "19th century"),
        ("It was let.", "4", " Now it is not", 4, "let.[4] Now"),
        ("It has 12", "34", " berths", 0, "1234 berths"),  # small capitals, or a font in a font
    ],
)
def test_what_is_raised_or_lowered_is_written_so(before, script, after, rise, shown):
    page = prose(LEFT, 760) + scripted(before, script, after, 600, rise=rise)
    assert shown in read(page)[-1]


FIGURES = [
    ["Pier", "Spent", "Left"],
    ["Ostvik", "37,499.96", "21,000.00"],
    ["Harn", "1,111.11", "12,111.06"],
    ["Lom", "17", "3.50"],
]
SHOWN = (
    "| Pier | Spent | Left |\n| --- | --- | --- |\n| Ostvik | 37,499.96 | 21,000.00 |\n"
    "| Harn | 1,111.11 | 12,111.06 |\n| Lom | 17 | 3.50 |"
)


def half_ruled(rows: list[list[str]], across: list[int], top: int) -> bytes:
    """A table without rules between its rows, but for the one below its head."""
    bottom = top - 14 * len(rows)
    level = (top, top - 14, bottom)
    drawn = b"".join(b"%d %d m %d %d l S\n" % (x, bottom, x, top) for x in across)
    drawn += b"".join(b"%d %d m %d %d l S\n" % (across[0], y, across[-1], y) for y in level)
    return drawn + b"".join(
        words(cell, across[c] + 3, top - 14 * (r + 1) + 4)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
    )


def test_rows_without_rules_between_them_stay_rows():
    assert read(prose(LEFT, 760) + half_ruled(FIGURES, [60, 110, 160, 220], 600))[-1] == SHOWN


def test_a_table_that_cuts_a_word_is_written_as_lines():
    rows = [["Harbourmaster", "b"], ["12", "13"], ["14", "15"]]
    found = read(prose(LEFT, 760) + table(rows, across=[60, 80, 300], top=600))
    assert ["|" in block for block in found] == [False] * len(found)
    assert "Harbourmaster b" in " ".join(found)


def test_a_table_on_a_turned_page_is_written_as_lines():
    page = b"q 0 1 -1 0 595 0 cm\n" + table(FIGURES, across=[60, 160, 260, 360], top=500) + b"Q\n"
    text = " ".join(read(page))
    assert [" ".join(row) in text for row in FIGURES] == [True] * 4
    assert "|" not in text


def test_a_table_keeps_what_is_raised_in_its_cells():
    rows = table([["Year", "Boats"], ["", ""]], across=[60, 160, 260], top=600)
    page = prose(LEFT, 760) + rows + scripted("1961", "3", "", 566) + words("12", 164, 566)
    assert read(page)[-1].endswith("| 1961^3 | 12 |")


def test_paragraphs_numbered_one_after_the_other_are_a_list_and_a_lone_number_is_none():
    steps = ("1. Close the sluice.", "2. Wind in the boom.", "3. Light the lamp.")
    told = (*steps, "7. is a number.")
    drawn = b"".join(words(text, 60, 700 - 30 * n) for n, text in enumerate(told))
    assert read(drawn) == [*steps, r"7\. is a number."]
