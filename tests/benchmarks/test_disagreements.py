"""The rule of disagreements keeps to its figures."""

from __future__ import annotations

from benchmarks import disagreements


def test_both_halves_hold_pairs_that_disagree_and_pairs_that_only_look_so() -> None:
    for half in disagreements.HALVES:
        kinds = [bool(pair["kind"]) for pair in disagreements.pairs(half)]
        assert min(kinds.count(True), kinds.count(False)) >= 25


def test_most_of_what_is_shown_disagrees_and_most_that_disagrees_is_shown() -> None:
    found = disagreements.figures(disagreements.pairs("test"))
    assert found["precision"] >= 0.92
    assert found["recall"] >= 0.88


def test_the_sweep_tries_every_constant_and_step() -> None:
    told = disagreements.sweep(disagreements.pairs("dev")[:10])
    for name in (*disagreements.VALUES, *disagreements.STEPS):
        assert any(name in line for line in told), name
