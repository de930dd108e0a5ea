"""Disagreements between quotes, and copies that are no second source."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, strategies as st

from spadework.tools.ranking.conflicts import Heard, conflicts, disagreement, figures_apart
from spadework.tools.ranking.statements import group_near_duplicates
from spadework.tools.text.facts import stems
from spadework.values import Evidence


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (
            "Port Aldermere has 48,212 inhabitants.",
            "Port Aldermere has 61,000 inhabitants.",
            "number",
        ),
        (
            "The lighthouse of Aldermere was first lit in 1887.",
            "The lighthouse in Aldermere was first lit in 1889.",
            "date",
        ),
        (
            "Version 2 was released on 17 February 2026.",
            "Version 2 was released on 24 February 2026.",
            "date",
        ),
        (
            "The harbour bridge is open to cars and trams.",
            "The harbour bridge is not open to cars and trams.",
            "negation",
        ),
        ("Port Aldermere has 48,212 inhabitants.", "Port Aldermere has 48212 inhabitants.", ""),
        (
            "Port Aldermere has 48,212 inhabitants.",
            "The harbour of Aldermere has 12 cranes and two docks.",
            "",
        ),
        (
            "Die Hafenbrücke ist für Autos und Bahnen offen.",
            "Die Hafenbrücke ist für Autos und Bahnen nicht offen.",
            "negation",
        ),
        (
            "Der Leuchtturm wurde am 3. März 1887 entzündet.",
            "Der Leuchtturm wurde am 3. Mai 1887 entzündet.",
            "date",
        ),
        ("Die Stadt hat 48.212 Einwohner.", "Die Stadt hat 61.000 Einwohner.", "number"),
        ("橋は1887年に開通した。", "橋は1889年に開通した。", "date"),
        ("It has 12 cranes.", "Founded in 1204, the town was rebuilt after the fire of 1666.", ""),
        ("Forza Horizon 5 EULA", "We show you Wolverine and the new Forza Horizon 6.", ""),
        ("Quillon 1.10 fixes two bugs in 1.9.", "Quillon 1.7 fixes six bugs in 1.6.", ""),
        ("Lowen had 20,100 people in 1910.", "Lowen had 61,000 people in 1990.", ""),
        ("In 1910 the town of Lowen had 20,100 people.", "Lowen had 61,000 people in 1990.", ""),
        (
            "The lighthouse on the point is 41 metres tall and was first lit on 3 October 1887.",
            "The lighthouse is 38 metres tall and was lit for the first time in 1889.",
            "number",
        ),
        (
            "It bounds hangs to a 2-minute keepalive, where the timeout of the platform is set.",
            "The timeout for all others is set by hand; connect waits for 5 seconds.",
            "",
        ),
    ],
)
def test_statements_about_the_same_thing_are_compared(one: str, other: str, kind: str) -> None:
    assert disagreement(one, other) == kind
    assert disagreement(other, one) == kind


@pytest.mark.parametrize(
    ("titles", "kind"),
    [
        (("Albert Parker (director)", "John Dillon (director)"), ""),
        (("Albert Parker", "Films of Albert Parker"), "number"),
        (("Albert Parker", ""), "number"),
    ],
)
def test_pages_about_others_do_not_disagree(titles: tuple[str, str], kind: str) -> None:
    one = "He directed 36 films between the wars."
    other = "He directed 130 films between the wars."
    assert disagreement(one, other, titles=titles) == kind


def entry(id_: str, quote: str, origin: str) -> Evidence:
    return Evidence(
        id=id_,
        topic="T",
        quote=quote,
        url=origin,
        start=0,
        end=len(quote),
        content_hash=id_,
        fetched_at=datetime.now(UTC),
        origin=origin,
    )


def test_what_begins_with_the_titles_of_two_pages_tells_of_two_things() -> None:
    one = "Riders of the Vale is a 1949 film directed by Jory Vane."
    other = "Riders of the Range is a 1939 film directed by Jory Vane."
    assert (
        disagreement(one, other, titles=("Riders of the Vale (film)", "Riders of the Range")) == ""
    )
    assert disagreement(one, other, titles=("", "Riders of the Range")) == ""


def test_the_sentence_that_says_what_was_asked_is_compared() -> None:
    one = "The port lies on the coast. It was founded in 1204. In 2021 it had 48,212 men.[1]"
    other = "The port, founded in 1240, has about 61,000 people."
    assert disagreement(one, other, asked=stems("founded")) == "date"
    assert disagreement(one, other, asked=stems("coast")) == ""


def test_both_sides_of_a_conflict_keep_their_evidence() -> None:
    [found] = conflicts(
        [
            entry("E1", "Aldermere has 48,212 inhabitants.", "a"),
            entry("E2", "Aldermere has 61,000 inhabitants.", "b"),
        ]
    )
    assert [side.evidence_ids for side in found.sides] == [("E1",), ("E2",)]


def test_copies_share_an_origin_also_when_a_number_is_changed() -> None:
    text = " ".join(
        f"The harbour of Aldermere handled {n} thousand tons in its year number {n}, more than ever"
        " before."
        for n in range(30)
    )
    other = " ".join(
        f"A quite different text about wind-up radios, number {n}, and how they are built by hand."
        for n in range(30)
    )
    found = group_near_duplicates({"a": text, "b": text.replace("12", "19"), "c": other})
    assert found == {"a": "a", "b": "a", "c": "c"}
    assert group_near_duplicates({"a": text, "b": text}, lambda: True) == {"a": "a", "b": "b"}


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (
            "It was founded in 1204 by salt traders and received its charter in 1288.",
            "The town, founded in 1240, has 61,000 people.",
            "date",
        ),
        (
            "It was founded in 1204 by salt traders.",
            "Founded in 1204, the town has 61,000 people.",
            "",
        ),
        (
            "It was founded in 1204 by salt traders.",
            "The charter of the town is of 1288, they say at the harbour.",
            "",
        ),
    ],
)
def test_another_answer_to_what_was_asked_is_a_disagreement(
    one: str, other: str, kind: str
) -> None:
    found = conflicts([entry("E1", one, "a"), entry("E2", other, "b")], asked=stems("founded"))
    assert [conflict.kind for conflict in found] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("The licence is MIT.", "The license is Apache-2.0.", "value"),
        (
            "Quillon is licensed under the MIT license.",
            "Quillon is released under the Apache License 2.0.",
            "value",
        ),
        (
            "The works of Quillon were founded by Ann Lee.",
            "The Quillon works, founded by Bo Chan, build radios.",
            "value",
        ),
        ("The capital of Vessany is Lowen.", "The capital of Vessany is Port Aldermere.", "value"),
        (
            "The works of Quillon were founded by Ann Lee.",
            "Quillon was founded by Ann Lee and Bo Chan in 1999.",
            "",
        ),
        ("The licence is MIT.", "The license is the MIT License.", ""),
        ("The capital of Vessany is Lowen.", "The capital of Tarn is Brill.", ""),
        (
            "Quillon is licensed under the MIT license.",
            "The lighthouse is licensed under the Harbour Act.",
            "",
        ),
        ("The works were founded by Ann Lee.", "The harbour was founded by Bo Chan.", ""),
    ],
)
def test_other_names_for_the_same_thing_disagree(one: str, other: str, kind: str) -> None:
    assert disagreement(one, other) == kind
    assert disagreement(other, one) == kind


RIGHT = "The lighthouse of Port Aldermere was first lit in the autumn of 1887 by its keeper."
WRONG = RIGHT.replace("1887", "1999")


def test_twelve_copies_are_one_voice_and_lose_to_two_origins() -> None:
    copies = [
        entry(f"E{n}", WRONG, "copied").model_copy(update={"url": f"copy-{n}"}) for n in range(12)
    ]
    others = [
        entry(
            "E20", "It is known that the lighthouse in Port Aldermere was first lit in 1887.", "a"
        ),
        entry("E21", RIGHT, "b"),
    ]
    [found] = conflicts([*copies, *others])
    assert [(side.weight, set(side.evidence_ids)) for side in found.sides] == [
        (pytest.approx(2 / 3, abs=0.01), {"E20", "E21"}),
        (pytest.approx(1 / 3, abs=0.01), {e.id for e in copies}),
    ]


@pytest.mark.parametrize("days", [(1, 9), (9, 1), (None, None)])
def test_a_newer_near_copy_with_a_changed_figure_is_named_and_stands_last(
    days: tuple[int | None, int | None],
) -> None:
    ledger = [
        entry(f"E{n}", said, "a").model_copy(
            update={"url": f"page-{n}", "published_at": day and datetime(2026, 3, day, tzinfo=UTC)}
        )
        for n, (said, day) in enumerate(zip((RIGHT, WRONG), days, strict=True))
    ]
    heard = {"page-0": Heard("a", 0.2), "page-1": Heard("a", 0.8)}
    [found] = conflicts(ledger, heard=heard)
    changed = [side.claim for side in found.sides if side.changed_copy]
    newer = {(1, 9): [WRONG], (9, 1): [RIGHT], (None, None): []}[days]
    assert changed == newer
    assert found.sides[0].claim not in newer


@given(
    st.lists(
        st.sampled_from(["1.2.3", "4.2", "to", "until", "-", "versions", "7", "MB", "0", ","])
    ),
    st.lists(st.sampled_from(["1.2.3", "4.2", "to", "and", "–", "versions", "9", "MB"])),
)
@example(["versions", "1.2", "to", "1.2.3"], ["versions", "1.4.2", "to", "2"])
def test_figures_of_any_form_are_compared(one: list[str], other: list[str]) -> None:
    said = [f"The tool supports {' '.join(words)} servers." for words in (one, other)]
    assert disagreement(*said) in ("", "number", "negation", "date", "name")


def test_a_list_of_many_values_beside_one_word_is_no_disagreement() -> None:
    said = "The lighthouse of Port Aldermere was lit {} times in the winter of its first keeper."
    assert not conflicts([entry(f"E{n}", said.format(n + 200), f"{n}") for n in range(60)])


def test_a_hundred_statements_without_disagreement_are_compared_in_no_time() -> None:
    said = "The {} lighthouse of Port Aldermere was lit by keeper {} for ships of the {} sea."
    quotes = [said.format(word * 3, n, word) for n, word in enumerate(map(chr, range(192, 392)))]
    before = time.process_time()
    assert not conflicts([entry(f"E{n}", quote, f"{n}") for n, quote in enumerate(quotes)])
    assert time.process_time() - before < 1


def test_many_pages_that_share_a_footer_are_grouped_in_no_time() -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghij", k=7)) for _ in range(5_000)]
    footer = " ".join(chance.choices(words, k=60))
    pages = {str(n): " ".join([*chance.choices(words, k=300), footer]) for n in range(90)}
    copied = {f"copy of {key}": f"{text} Read more" for key, text in pages.items()}
    began = time.process_time()
    found = group_near_duplicates(pages | copied)
    assert time.process_time() - began < 3
    assert found == {key: key.removeprefix("copy of ") for key in pages | copied}


def test_a_sentence_that_many_pages_repeat_is_one_voice() -> None:
    repeated = [entry(f"E{n}", WRONG, f"page-{n}") for n in range(12)]
    [found] = conflicts([*repeated, entry("E20", RIGHT, "a")])
    assert [side.weight for side in found.sides] == [0.5, 0.5]


def test_a_copy_with_a_changed_number_is_a_side_of_its_own() -> None:
    [found] = conflicts([entry("E1", RIGHT, "a"), entry("E2", RIGHT, "a"), entry("E3", WRONG, "a")])
    assert {side.evidence_ids for side in found.sides} == {("E1", "E2"), ("E3",)}


def test_trust_and_recency_decide_which_side_weighs_more() -> None:
    [found] = conflicts(
        [entry("E1", WRONG, "blog"), entry("E2", RIGHT, "archive")],
        heard={"blog": Heard("blog", 0.2), "archive": Heard("archive", 0.6)},
    )
    assert [(side.claim, side.weight) for side in found.sides] == [(RIGHT, 0.75), (WRONG, 0.25)]


def test_three_answers_are_three_sides_of_one_conflict() -> None:
    quotes = [
        f"The town of Port Aldermere has {n} inhabitants."
        for n in ("48,212", "61,000", "52,000", "48212")
    ]
    [found] = conflicts([entry(f"E{n}", quote, f"page-{n}") for n, quote in enumerate(quotes)])
    assert sorted(side.evidence_ids for side in found.sides) == [("E0", "E3"), ("E1",), ("E2",)]


def test_a_scrambled_text_is_no_origin_of_its_own() -> None:
    words = [f"{word}{n}" for n in range(12) for word in ("harbour", "lamp", "keeper", "boat")]
    scrambled = words[::-1]
    assert group_near_duplicates(
        {
            "a": " ".join(words),
            "b": " ".join(scrambled),
            "c": " ".join(f"other{word}" for word in words),
        }
    ) == {"a": "a", "b": "a", "c": "c"}


def test_pages_that_were_only_read_bear_out_a_side() -> None:
    heard = {
        name: Heard(
            name,
            0.25,
            f"# Page\n\nThe {name} stands there. The old lighthouse of Port Aldermere was lit in"
            " 1887.",
        )
        for name in "cd"
    }
    [found] = conflicts([entry("E1", WRONG, "a"), entry("E2", RIGHT, "b")], heard=heard)
    assert [(side.evidence_ids, side.weight) for side in found.sides] == [
        (("E2",), pytest.approx(2 / 3, abs=0.01)),
        (("E1",), pytest.approx(1 / 3, abs=0.01)),
    ]


@pytest.mark.parametrize("words", [60, 600, 6_000])
def test_an_excerpt_is_no_origin_of_its_own(words: int) -> None:
    long = " ".join(
        f"word{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}"
        for n in range(3 * words)
    )
    excerpt = " ".join(long.split()[words : 2 * words])
    other = " ".join(f"other{word}" for word in excerpt.split())
    assert group_near_duplicates({"long": long, "excerpt": excerpt, "other": other}) == {
        "long": "long",
        "excerpt": "long",
        "other": "other",
    }
    assert group_near_duplicates({"excerpt": excerpt, "long": long}) == {
        "excerpt": "excerpt",
        "long": "excerpt",
    }


def test_a_disagreement_that_two_topics_quote_stands_once() -> None:
    said = ("Port Aldermere has 48,212 inhabitants.", "Port Aldermere has 61,000 inhabitants.")
    ledger = [entry(f"E{n}", text, f"https://{n}.example/") for n, text in enumerate(said)]
    again = [e.model_copy(update={"id": f"{e.id}0", "topic": "U"}) for e in ledger]
    assert len(conflicts([*ledger, *again])) == 1


@pytest.mark.parametrize(
    ("one", "other", "years", "apart"),
    [
        (
            "It was founded in 1204 by salt traders and received its charter in 1288.",
            "The town, founded in 1240, has about 61,000 people.",
            True,
            ("1204", "1240"),
        ),
        (
            "The lighthouse is 41 metres tall and was first lit on 3 October 1887.",
            "The lighthouse is 38 metres tall and was lit for the first time in 1889.",
            False,
            ("41", "38"),
        ),
        ("The census counted 48,212 people.", "The census counted 61,000 people.", True, None),
        (
            "The release is planned for 15 June 2026.",
            "The release is planned for 30 September 2026.",
            True,
            ("15 June 2026", "30 September 2026"),
        ),
    ],
)
def test_the_figures_that_differ_are_told(
    one: str, other: str, years: bool, apart: tuple[str, str] | None
) -> None:
    assert figures_apart(one, other, years=years) == apart


@pytest.mark.timed
def test_a_list_of_years_is_compared_in_no_long_time():
    years = " ".join(str(1000 + n % 1000) for n in range(20_000))
    before = time.process_time()
    figures_apart(f"The heights {years} are kept.", "The height is 14 m.", years=False)
    assert time.process_time() - before < 5
