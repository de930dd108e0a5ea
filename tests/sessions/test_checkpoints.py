"""What a checkpoint saved is restored, by an older name of its module, too."""

from __future__ import annotations

import pytest

from spadework.sessions.storage.checkpoints import our_serde
from spadework.values import Problem, Query


@pytest.mark.parametrize(
    ("value", "former"),
    [
        (Query(text="harbour"), "spadework.values.asking"),
        (Problem(stage="read", subject="a page", reason="it is empty"), "spadework.values.telling"),
    ],
)
def test_a_value_of_an_older_checkpoint_is_restored(
    value: Query | Problem, former: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(type(value), "__module__", former)
        saved = our_serde().dumps_typed(value)
    assert former.encode() in saved[1]
    assert our_serde().loads_typed(saved) == value
