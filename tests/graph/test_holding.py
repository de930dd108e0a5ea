"""What is left of sections once what does not hold is taken out: every sentence by its place,
nothing that hangs in the air, nothing named that no page names.
"""

from __future__ import annotations

import gc
from datetime import UTC, datetime

from spadework.agents.extractive import writer as extractive
from spadework.agents.report.checks import Known
from spadework.agents.report.marked_text import section_of
from spadework.agents.report.material import Material
from spadework.graph.nodes.verify import Check, verify_sections
from spadework.values import Evidence, EvidenceKind, Plan, Section, Topic

PAGE = (
    "The harbour of Port Aldermere has two cranes. Its lighthouse was lit in 1887 by Jory"
    " Penhallow. The bridge carries trams."
)
#: What no page says.
LIE = "Zorblatt built it in 1755 [E1]."


async def left(*markdown: str) -> list[Section]:
    """The sections that are left of these, as code finds them."""
    sections = [section_of(f"Part {n}", text) for n, text in enumerate(markdown, 1)]
    entry = Evidence(
        id="E1",
        topic="Town",
        quote=PAGE,
        url="https://town.example/",
        start=0,
        end=len(PAGE),
        content_hash="h",
        fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
        origin="u",
        title="Port Aldermere",
    )
    plan = Plan(question="q", topics=(Topic(name="Town", question="q"),))
    material = Material({"E1": entry}, {"h": PAGE}, "")
    return list((await verify_sections(None, plan, sections, material, Check(5))).sections)


def texts(section: Section) -> list[str]:
    return [one.text for one in section.sentences]


async def test_a_cell_that_is_taken_out_leaves_the_next_cell_and_the_next_paragraph() -> None:
    table = f"| Thing | Since | What |\n|---|---|---|\n| Light | {LIE} | It shines at night [E1] |"
    [section] = await left(f"{table}\n\nHowever, the bridge is old [E1].")
    assert texts(section) == ["Light", "It shines at night", "However, the bridge is old."]


async def test_a_bullet_that_is_taken_out_leaves_the_next_one() -> None:
    [section] = await left(f"The harbour is small [E1].\n\n- {LIE}\n- It has two cranes [E1]")
    assert texts(section) == ["The harbour is small.", "It has two cranes"]


async def test_what_follows_a_sentence_that_is_gone_does_not_hang() -> None:
    [section] = await left(f"{LIE} However, trams cross [E1]. {LIE} It is tall [E1].")
    assert texts(section) == ["Trams cross."]


async def test_a_sub_heading_begins_anew() -> None:
    [section] = await left(f"Trams cross it [E1]. {LIE}\n\n### Lamps\n\nIt was lit [E1].")
    assert texts(section) == ["Trams cross it.", "It was lit."]


async def test_a_line_that_leads_to_what_is_gone_goes_too() -> None:
    lists = f"The options are:\n\n- {LIE}\n- {LIE}\n\nTrams cross the bridge [E1]."
    [section] = await left(lists)
    assert texts(section) == ["Trams cross the bridge."]
    [section] = await left(lists.replace(f"- {LIE}\n\n", "- Two cranes stand there [E1]\n\n"))
    assert texts(section)[0] == "The options are:"


async def test_a_row_whose_name_no_page_has_goes_whole() -> None:
    rows = "| Zorblatt | two [E1] |\n| Harbour | two [E1] |"
    [section] = await left(f"| Place | Cranes |\n|---|---|\n{rows}")
    assert texts(section) == ["Harbour", "two"]
    assert section.parts[0].takes == (1, 1)


async def test_headings_and_columns_name_only_what_the_pages_of_their_section_name() -> None:
    [section] = await left(
        "### The lamps of Zorblatt\n\nThe bridge carries trams [E1].\n\n### The Light of 1887\n\n"
        "| Thing | In 1755 |\n|---|---|\n| Bridge | trams [E1] |"
    )
    told = [(part.form, part.text or part.columns) for part in section.parts]
    assert told == [("paragraph", ()), ("heading", "The Light of 1887"), ("table", ("Thing", ""))]


async def test_what_another_sentence_leans_on_is_said_again() -> None:
    more = "Trams are slow [E1]. Trams are old [E1]. Trams are red [E1]. Trams are few [E1]."
    _, again = await left(
        "The harbour is small [E1].", f"The harbour is small [E1]. It has two cranes [E1]. {more}"
    )
    assert texts(again)[:2] == ["The harbour is small.", "It has two cranes."]


async def test_what_is_known_of_pages_ends_with_the_run() -> None:
    await left("The bridge carries two trams [E1].")
    gc.collect()
    assert not any(isinstance(one, Known) for one in gc.get_objects())


async def test_what_leads_to_code_that_was_shown_before_is_shown_with_it_or_not_at_all() -> None:
    page = "The port opens so:\n\n```\nport --open\n```\n"

    def entry(id_: str, quote: str, kind: EvidenceKind) -> Evidence:
        start = page.index(quote)
        return Evidence(
            id=id_,
            topic="Town",
            quote=quote,
            url="https://town.example/",
            start=start,
            end=start + len(quote),
            content_hash="h",
            fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
            origin="u",
            kind=kind,
        )

    lead, code = entry("E1", "The port opens so:", "text"), entry("E2", "port --open", "code")
    sections = [extractive.section(f"Part {n}", [lead, code]) for n in (1, 2)]
    plan = Plan(question="q", topics=(Topic(name="Town", question="q"),))
    material = Material({"E1": lead, "E2": code}, {"h": page}, "")
    found = (await verify_sections(None, plan, sections, material, Check(5))).sections
    assert [texts(section) for section in found] == [["The port opens so:", "port --open"]] * 2


async def test_steps_stay_whole_though_another_section_says_the_same() -> None:
    steps = "1. Enter the harbour [E1].\n2. Two cranes stand there [E1].\n"
    first, second = await left(steps, f"{steps}3. The bridge carries trams [E1].")
    assert texts(second)[:2] == texts(first)
    assert len(texts(second)) == 3


async def test_items_without_the_line_that_leads_to_them_say_something_else() -> None:
    [section] = await left("Zorblatt lacks:\n\n- two cranes [E1]\n\nTrams cross [E1].")
    assert texts(section) == ["Trams cross."]


async def test_a_table_that_two_sections_show_stands_in_the_last() -> None:
    table = "| Thing | What |\n|---|---|\n| Harbour | two cranes [E1] |\n| Bridge | trams [E1] |"
    first, second = await left(f"The lighthouse was lit in 1887 [E1].\n\n{table}", table)
    assert texts(first) == ["The lighthouse was lit in 1887."]
    assert texts(second) == ["Harbour", "two cranes", "Bridge", "trams"]
