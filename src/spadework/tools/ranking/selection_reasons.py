"""Saying why a hit was or was not selected."""

from __future__ import annotations

from spadework.tools.extract.expected_type import foreseen
from spadework.tools.ranking.selection import LOCAL, Selection, fits
from spadework.tools.web.urls import domain_of
from spadework.values import Hit


def reason(hit: Hit, made: Selection) -> str:
    """Why a hit is selected or waits: a sentence that begins with "Selected" or "Reserve"."""
    fit = f"{_fit(hit, made)}.{f' {made.note}' if made.note else ''}"
    if hit in made.chosen:
        return f"Selected as number {made.chosen.index(hit) + 1}: {fit}"
    known = foreseen(hit.url, hit.title)
    place = "Left out"
    if hit in made.reserve:
        place = f"Reserve, as number {made.reserve.index(hit) + 1}"
    if known.refused and not hit.url.startswith(LOCAL):
        return f"{place}: by its address or title it cannot be read: {known.refused}."
    if not fits(hit, made.threshold):
        return f"{place}: {fit}"
    if hit.url in made.crowded:
        return (
            f"{place}: enough better pages of {domain_of(hit.url)} are selected, and other domains"
            " come first."
        )
    return f"{place}: {len(made.chosen)} better ones are selected, which is as many as are read."


def _fit(hit: Hit, made: Selection) -> str:
    if hit.relevance >= made.threshold:
        return f"its relevance of {hit.relevance:.2f} reaches {made.threshold:.2f}"
    if fits(hit, made.threshold):
        return "a document of the library is taken by its rank, whatever its relevance"
    return f"its relevance of {hit.relevance:.2f} is under {made.threshold:.2f}"
