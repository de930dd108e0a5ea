"""Hooks for schemathesis: hypothesis-jsonschema asks for `more()`, which newer versions of
hypothesis have no longer.
"""

from __future__ import annotations

from hypothesis.internal.conjecture.utils import many


def _more(self: many) -> bool:
    """Whether there is another element."""
    if not hasattr(self, "_elements"):
        self._elements = iter(self.__enter__())
    going = next(self._elements, self) is None
    if not going:
        self.__exit__(None)
    return going


if not hasattr(many, "more"):
    many.more = _more
