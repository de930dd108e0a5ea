"""Sections of one heading are one."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.values import Section


def one_a_heading(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The sections, of which a later one with the heading of another is its end."""
    made: dict[str, Section] = {}
    for section in sections:
        first = made.get(section.heading.casefold())
        if first is None:
            made[section.heading.casefold()] = section
            continue
        told = (*first.sentences, *section.sentences)
        parts = (*first.parts, *section.parts) if first.parts and section.parts else ()
        made[section.heading.casefold()] = first.model_copy(
            update={"sentences": told, "parts": parts}
        )
    return tuple(made.values())
