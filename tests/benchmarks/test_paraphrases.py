"""The figure of paraphrases: what counts as the same plan, and what is told of the others."""

from __future__ import annotations

from benchmarks.answers_paraphrases import as_list, as_text, figures, paraphrased, understood
from spadework.values import Plan, Topic

ROWS = [
    {
        "id": "q1",
        "question": "Compare the lighthouse and the harbour",
        "paraphrases": ["the harbour vs. the lighthouse", "Who built the lighthouse?"],
    },
    {"id": "q2", "question": "sticky bit", "paraphrases": []},
]


def test_kind_subjects_and_expectations_are_compared_with_those_of_the_question() -> None:
    made = paraphrased(ROWS, None)
    assert [one.differs for one in made] == [[], ["kind", "subjects", "expects"]]
    assert figures(ROWS, made) == {
        "questions": 2,
        "paraphrases": 2,
        "same_plan": 0.5,
        "same_kind": 0.5,
        "same_subjects": 0.5,
        "same_expects": 0.5,
        "sure": 0.5,
        "sure_paraphrases": 1.0,
    }


def test_subjects_are_the_same_in_any_order_and_inflection() -> None:
    def of(*subjects: str) -> Plan:
        topic = Topic(name="T", question="?")
        return Plan(question="?", subjects=subjects, topics=(topic,))

    one, other = of("The harbour", "lighthouses"), of("Lighthouse", "harbour")
    assert understood(one) == understood(other)
    assert understood(one) != understood(of("harbour"))


def test_what_differs_is_listed_under_the_question_as_asked() -> None:
    listed = as_list(paraphrased(ROWS, None))
    assert listed.splitlines() == [
        "",
        "q1  Compare the lighthouse and the harbour",
        "  - Who built the lighthouse?",
        "      kind: compare -> fact",
        "      subjects: “the lighthouse”, “the harbour” -> none",
        "      expects: definition, definition, both sides -> name",
    ]


def test_without_paraphrases_no_share_is_made_up() -> None:
    told = figures(ROWS[1:], paraphrased(ROWS[1:], None))
    assert "same_plan" not in told
    assert "  plan     -" in as_text(told).splitlines()
