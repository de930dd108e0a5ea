"""Many ways of one kind: some of them are tried by `make test`, all by `make test-full`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def thinned(values: Iterable[Any], every: int) -> list[Any]:
    """The values as parameters of a test, of which only each so-many-th, from the first on, is not
    marked `full`.
    """
    return [
        value if n % every == 0 else pytest.param(value, marks=pytest.mark.full)
        for n, value in enumerate(values)
    ]
