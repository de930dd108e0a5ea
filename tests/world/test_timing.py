"""Chains and peaks of requests."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from tests.world.timing import depth, eventually, peak


@dataclass
class Lasting:
    started: float
    ended: float | None


def spans(*pairs: tuple[float, float | None]) -> list[Lasting]:
    return [Lasting(*pair) for pair in pairs]


def test_waves_are_counted_however_wide_they_are():
    waves = spans((0, 1), (0.1, 1.2), (2, 3), (2, 2.5), (2.1, 2.9), (4, None))
    assert (depth(waves), peak(waves)) == (3, 3)
    assert (depth([]), peak([])) == (0, 0)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=20))
def test_a_chain_and_a_crowd_cover_all_spans(pairs):
    lasting = spans(*((start, start + length) for start, length in pairs))
    assert depth(lasting) <= len(lasting) <= depth(lasting) * peak(lasting)


async def test_waiting_has_an_end():
    await eventually(lambda: True)
    with pytest.raises(TimeoutError):
        await eventually(lambda: False, seconds=0.02)
