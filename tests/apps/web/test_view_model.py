"""What the page is drawn from takes every event there is."""

from __future__ import annotations

from typing import get_args

import pytest

from spadework.apps.view_model import ViewModel
from spadework.events import Checked, Distilled, Event
from spadework.values import Value


@pytest.mark.parametrize("kind", get_args(get_args(Event)[0]), ids=lambda kind: kind.__name__)
def test_every_kind_of_event_has_its_place(kind: type[Value]) -> None:
    assert hasattr(ViewModel, f"_take_{kind.model_fields['type'].default}")


@pytest.mark.parametrize(
    "event",
    [Checked(topic="T", hits=3), Distilled(topic="T", need="text", passages=4)],
    ids=lambda event: event.type,
)
def test_what_the_page_does_not_show_changes_nothing(event: Event) -> None:
    picture = ViewModel()
    assert picture.take(event) == set()
    assert picture == ViewModel()
