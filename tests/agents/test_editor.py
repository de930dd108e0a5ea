"""What the editor says of a run: how far each topic is answered, and who judged that."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.editor import about, disagreements, not_found, untold
from spadework.tools.text.language import Phrases
from spadework.values import (
    NOBODY,
    Citation,
    Conflict,
    Coverage,
    Evidence,
    Plan,
    Recommendation,
    Section,
    Sentence,
    Shortfall,
    Side,
    Topic,
    Verdict,
)

NAMES = ("What is a sluice?", "Prices", "Owners", "Never judged")
PLAN = Plan(question="q", topics=tuple(Topic(name=name, question=name) for name in NAMES))


def test_what_is_not_answered_is_told_as_partly_answered_or_open() -> None:
    coverage = {
        NAMES[0]: Coverage(topic=NAMES[0], covered=True, score=0.9, evidence_ids=("E1",)),
        "Prices": Coverage(
            topic="Prices", covered=False, score=0.4, evidence_ids=("E2",), gaps=("Of which year?",)
        ),
        "Owners": Coverage(topic="Owners", covered=False, score=0, gaps=("Who owns them?",)),
    }
    assert [sentence.text for sentence in not_found(PLAN, coverage).sentences] == [
        "“Prices” was only partly answered. Of which year?",
        "“Owners” was not answered. Who owns them?",
        "“Never judged” was not answered. Nothing was found.",
    ]


def test_each_gap_is_told_once_and_only_what_the_asker_would_look_for() -> None:
    plan = Plan(question="What is a sluice?", topics=(PLAN.topics[0], PLAN.topics[1]))
    gap = "No price is dated."
    coverage = {
        name: Coverage(topic=name, covered=False, score=0, gaps=(gap,)) for name in NAMES[:2]
    }

    def lack(kind: str, text: str) -> Shortfall:
        more = Recommendation(query="q", purpose="p", priority="low", max_results=1)
        return Shortfall.model_validate({"kind": kind, "text": text, "recommendation": more})

    kinds = ("definition", "domains", "freshness", "confirmation", "navigation")
    lacking = [lack(kind, f"Lacks {kind}.") for kind in kinds]
    told = [one.text for one in not_found(plan, coverage, None, lacking).sentences]
    assert told == [gap, "“Prices” was not answered. Nothing was found.", "Lacks definition."]
    asked = plan.model_copy(update={"question": "What is the latest news of sluices?"})
    assert "Lacks freshness." in [one.text for one in not_found(asked, {}, None, lacking).sentences]


def test_a_gap_that_another_section_answers_is_none() -> None:
    coverage = {
        NAMES[0]: Coverage(topic=NAMES[0], covered=True, score=0.9, gaps=("a", "b", "c")),
        "Prices": Coverage(topic="Prices", covered=False, score=0.4, gaps=("the year", "the tax")),
        "Owners": Coverage(topic="Owners", covered=False, score=0.4, gaps=("their names",)),
    }
    plan = PLAN.model_copy(update={"topics": PLAN.topics[:3]})
    left = not_found(plan, coverage, ["b", "c", "the tax"])
    assert [one.text for one in left.sentences] == [
        "“Prices” was not answered. Missing: the tax.",
        "“Owners” was not answered. Nothing was found.",
        "Missing: b; c.",
    ]
    partly = {"Prices": coverage["Prices"].model_copy(update={"evidence_ids": ("E1",)})}
    some = plan.model_copy(update={"topics": (PLAN.topics[1],)})
    assert [one.text for one in not_found(some, partly, ["the tax"]).sentences] == [
        "Missing: the tax."
    ]
    answered = {"Prices": coverage["Prices"].model_copy(update={"covered": True})}
    assert not not_found(some, answered).sentences, "nobody searched for what it lacks"
    [vague] = not_found(some, partly, []).sentences
    assert vague.text == "“Prices” was only partly answered."


@pytest.mark.parametrize(
    ("kind", "dated", "told", "said"),
    [
        (
            "number",
            True,
            ["It costs $3.", "It costs $1."],
            "The newest figure, from 2023-03-04, comes first. It may have replaced the older ones,"
            " from 2022-03-04.",
        ),
        (
            "date",
            True,
            ["It costs $1.", "It costs $3."],
            "The first version is better supported: it carries 80% of the weight, judged by the"
            " number, trustworthiness and age of the independent sources. The first is from"
            " 2022-03-04, the second from 2023-03-04.",
        ),
        (
            "number",
            False,
            ["It costs $1.", "It costs $3."],
            "The first version is better supported: it carries 80% of the weight, judged by the"
            " number, trustworthiness and age of the independent sources.",
        ),
    ],
)
def test_of_figures_that_are_dated_the_newest_stands_first_and_no_older_one_outweighs_it(
    kind: str, dated: bool, told: list[str], said: str
) -> None:
    day = datetime(2026, 3, 4, tzinfo=UTC)
    common = {"topic": "Prices", "url": "https://a.example/", "start": 0, "end": 3}
    ledger = {
        f"E{n}": Evidence(
            **common,
            id=f"E{n}",
            quote=f"It costs {n}.",
            content_hash="a",
            fetched_at=day,
            published_at=day.replace(year=2020 + n) if dated else None,
            origin=str(n),
        )
        for n in (1, 2, 3)
    }
    heavy = Side(claim="It costs $1.", evidence_ids=("E1", "E2"), weight=0.8)
    light = Side(claim="It costs $3.", evidence_ids=("E3",), weight=0.2)
    conflict = Conflict.model_validate({"topic": "Prices", "kind": kind, "sides": (heavy, light)})
    [first, *sides] = disagreements([conflict], ledger).sentences
    assert [side.text for side in sides] == told
    apart = " / ".join(one[len("It costs ") :].rstrip(".") for one in told)
    figures = f": {apart}" if kind == "number" else ""  # a day is told by more than a figure
    assert first.text == f"On “Prices”, the sources give different {kind}s{figures}. {said}"


def test_what_surrounds_a_report_is_in_its_language() -> None:
    say = Phrases("de")
    coverage = {"Prices": Coverage(topic="Prices", covered=False, score=0, gaps=("2025",))}
    plan = Plan(question="q", topics=(Topic(name="Prices", question="p"),), language="de")
    open_ones = not_found(plan, coverage, say=say)
    assert open_ones.heading == "Nicht gefunden"
    [told] = open_ones.sentences
    assert told.text == "„Prices“ wurde nicht beantwortet. Noch offen: 2025."
    whole = {"Prices": Coverage(topic="Prices", covered=False, score=0, gaps=("没有来源提到船。",))}
    [told] = not_found(plan, whole, say=Phrases("zh")).sentences
    assert told.text == "“Prices”没有得到回答。 没有来源提到船。", "a sentence is no missing thing"
    said = about(cited("m", "j", supported=3), [], (1, 1), (), "pages", say)
    assert said.heading == "Über diesen Bericht"
    assert [one.text for one in said.sentences] == [
        "Geschrieben von m, geprüft von j. Sätze: 3 durch Quellen belegt.",
        "1 Seite gelesen, 1 zitiert.",
        "Das Limit für Seiten wurde erreicht.",
    ]


def cited(maker: str, judge: str, **verdicts: int) -> list[Citation]:
    """Sentences of a maker and a judge, so many of each verdict, each with two entries."""
    kinds: dict[str, Verdict] = {"supported": "supported", "inference": "inference"}
    return [
        Citation(
            sentence=f"{maker} {judge} {kind} {n}",
            evidence_id=id_,
            verdict=kinds.get(kind, "could not check"),
            maker=maker,
            judge=judge,
        )
        for kind, many in verdicts.items()
        for n in range(many)
        for id_ in ("E1", "E2")
    ]


def test_a_report_of_code_says_that_no_model_judged_it_and_not_how_it_ended_of_itself() -> None:
    said = about(cited("code", "code", supported=3), ["the notes"], (2, 1), (), "coverage")
    assert [one.text for one in said.sentences] == [
        "No language model wrote or checked this report. Sentences quoted word for word: 3.",
        "2 pages read, 1 cited. Searched: the notes.",
    ]


def test_a_report_of_a_model_says_who_wrote_who_judged_and_what_was_found() -> None:
    made = [
        *cited("a-writer", "a-judge", supported=7, inference=2),
        *cited("code", "code", supported=4),
        *cited("a-writer", NOBODY, unchecked=1),
    ]
    [how, *_] = about(made, ["the notes"], (2, 1), (), "coverage").sentences
    assert how.text == (
        "Written by a-writer, checked by a-judge. Sentences: 7 supported by sources, 2"
        " inferred, 1 not checked, 4 quoted word for word."
    )


def test_a_report_that_nobody_has_judged_says_so() -> None:
    [how, *_] = about(cited("a-writer", NOBODY, unchecked=1), [], (1, 1), (), "").sentences
    assert how.text == "Written by a-writer. Sentences: 1 not checked."


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("It cost 412 million.", "At the opening it was 338 million."), True),
        (("It cost 412 million.", "Less was said at the opening."), False),
        (("It cost 412 million, and not 338 million.",), False),
    ],
)
def test_a_disagreement_is_told_by_a_section_with_the_figures_of_all_sides(
    texts: tuple[str, ...], told: bool
) -> None:
    sides = (
        Side(claim="It cost 412 million in 2023.", evidence_ids=("E1",), weight=0.5),
        Side(claim="It cost 338 million in 2023.", evidence_ids=("E2",), weight=0.5),
    )
    conflict = Conflict(topic="Cost", kind="number", sides=sides)
    said = tuple(Sentence(text=text, evidence_ids=(f"E{n}",)) for n, text in enumerate(texts, 1))
    sections = [Section(heading="Cost", sentences=said)]
    assert untold([conflict], sections) == ([] if told else [conflict])
    unsaid = conflict.model_copy(
        update={"sides": tuple(side.model_copy(update={"claim": "It did."}) for side in sides)}
    )
    assert untold([unsaid], sections) == [unsaid], "what has no figures of its own is always told"


def test_no_day_may_replace_itself() -> None:
    day = datetime(2024, 3, 18, tzinfo=UTC)
    known = {
        id_: Evidence(
            **{"id": id_, "topic": "t", "quote": "q", "url": "u", "start": 0, "end": 1},
            content_hash="h",
            fetched_at=day,
            origin="u",
            published_at=published,
        )
        for id_, published in (("E1", day), ("E2", day), ("E3", day.replace(year=2022)))
    }
    sides = tuple(Side(claim=id_, evidence_ids=(id_,), weight=0.3) for id_ in known)
    made = disagreements([Conflict(topic="T", kind="number", sides=sides)], known)
    assert made.sentences[0].text.endswith("the older ones, from 2022-03-18.")


def test_a_newer_near_copy_is_named_and_does_not_stand_first() -> None:
    day = datetime(2026, 3, 4, tzinfo=UTC)
    ledger = {
        f"E{n}": Evidence(
            **{"id": f"E{n}", "topic": "t", "quote": "q", "url": "u", "start": 0, "end": 1},
            content_hash="h",
            fetched_at=day,
            origin="u",
            published_at=day.replace(year=2020 + n),
        )
        for n in (1, 2, 3)
    }
    sides = tuple(
        Side(claim=f"It costs ${n}.", evidence_ids=(f"E{n}",), weight=0.3, changed_copy=n == 3)
        for n in (1, 2, 3)
    )
    made = disagreements([Conflict(topic="T", kind="number", sides=sides)], ledger).sentences
    assert [one.text[-3:-1] for one in made[1:]] == ["$2", "$1", "$3"]
    assert "newer pages that copy" in made[0].text
