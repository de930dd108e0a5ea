"""The numbers of the items of numbered lists: those of the page, or none."""

from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from spadework.tools.text.markdown import blocks
from spadework.tools.text.tables import steps_of_lists


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1. One\n2. Two\n3. Three", {"One": 1, "Two": 2, "Three": 3}),
        ("1) One\n2) Two", {"One": 1, "Two": 2}),
        ("1. One\n1. Two\n1. Three", {"One": 1, "Two": 2, "Three": 3}),
        ("1. One\n\n   ```sh\n   run\n   ```\n\n2. Two", {"One": 1, "Two": 2}),
        ("1. One\n   - below\n   - again\n2. Two", {"One": 1, "Two": 2}),
        ("1. One\n   1. below\n2. Two", {"One": 1, "Two": 2}),
        ("- One\n  1. below\n  2. again\n- Two", {"below": 1, "again": 2}),
        ("- One\n- Two", {}),
        ("3. Three\n4. Four", {}),
        ("1. One\n2. Two\n5. Five\n6. Six", {"One": 1, "Two": 2}),
        ("1. One\n\n```sh\nrun\n```\n\n1. Uno\n2. Due", {"One": 1, "Uno": 1, "Due": 2}),
        (
            "1. One\n\n   ```\n   a\n   ```\n\n   On:\n\n   ```\n   b\n   ```\n\n2. Two",
            {"One": 1, "Two": 2},
        ),
        ("1. One\n2. Two\n\n# Other\n\n3. Three", {"One": 1, "Two": 2}),
    ],
)
def test_only_items_that_count_up_from_one_are_steps(text: str, numbers: dict[str, int]) -> None:
    steps = steps_of_lists(text, blocks(text))
    assert {text[at : step.end].split()[0]: step.number for at, step in steps.items()} == numbers


def test_the_steps_of_a_list_know_where_its_first_one_begins() -> None:
    text = "1. One\n2. Two\n\nAnd:\n\n1. Uno\n2. Due"
    firsts = [step.first for step in steps_of_lists(text, blocks(text)).values()]
    assert [text[first : first + 3] for first in firsts] == ["One", "One", "Uno", "Uno"]


@given(st.text(st.sampled_from("1290.)-* \n\t`|#ab"), max_size=60))
@example(f"{'9' * 5000}. a\n")
def test_no_text_is_too_odd(text: str) -> None:
    for begin, step in steps_of_lists(text, blocks(text)).items():
        assert 0 <= step.first <= begin <= step.end <= len(text)
        assert step.number >= 1
