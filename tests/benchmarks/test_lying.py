"""What ships is counted without asking the code that let it ship."""

from __future__ import annotations

from benchmarks.lying import Ran
from benchmarks.lying_roles import FACTS, is_true, lead_in, sentences
from spadework.values import Citation, Part, Report, Result, Section, Sentence

PLAIN, OTHER, LEANING = FACTS[3]["truths"]
LIE = FACTS[3]["lies"][0]["text"]


def ran(*texts: str, parts: tuple[Part, ...] = ()) -> Ran:
    told = tuple(Sentence(text=text, evidence_ids=("E1",)) for text in texts)
    result = Result(
        session_id="s",
        question="q",
        status="completed",
        mode="model",
        report="",
        document=Report(title="t", sections=(Section(heading="h", sentences=told, parts=parts),)),
        citations=tuple(
            Citation(sentence=text, evidence_id="E1", verdict="supported") for text in texts
        ),
    )
    return Ran(result, [[PLAIN, LEANING, OTHER]])


def test_lies_count_wherever_they_stand() -> None:
    assert (ran(PLAIN).lies(), ran(PLAIN).supported) == (0, 0)
    assert (ran(LIE).lies(strange=False), ran(LIE).lies(strange=True), ran(LIE).supported) == (
        1,
        0,
        1,
    )
    assert ran(PLAIN, parts=(Part(form="heading", text="Of Zorblatt"),)).lies(strange=True) == 1


def test_what_leans_or_leads_needs_its_own_matter_beside_it() -> None:
    assert ran(PLAIN, LEANING).hanging == 0
    assert ran(FACTS[0]["truths"][0], LEANING).hanging == 1
    assert ran(LEANING).hanging == 1
    assert ran(lead_in(FACTS[3]), PLAIN).hanging == 0
    assert ran(lead_in(FACTS[3])).hanging == 1


def test_a_true_sentence_survives_word_for_word() -> None:
    assert ran(PLAIN, OTHER).survived == 2
    assert ran(PLAIN[:-1] + " today.").survived == 0
    assert is_true(f"However, {OTHER}")
    assert not is_true(LIE)


def test_marks_are_no_words() -> None:
    assert sentences("- A [E1]") == ["A"]
    assert sentences("| Town | two [E3] |") == ["Town", "two"]
