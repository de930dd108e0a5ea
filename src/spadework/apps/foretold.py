"""A forecast in words, the same at every front door."""

from __future__ import annotations

from spadework.values import Forecast, Span


def foretold(forecast: Forecast) -> str:
    """A forecast as one line."""
    money = (
        "of unknown price"
        if forecast.money is None
        else f"for {_range(forecast.money, '$')}"
        if forecast.money.high
        else ""
    )
    model = (
        f"; {_range(forecast.calls)} model calls, {_range(forecast.tokens)} tokens"
        f" ({_range(forecast.writing)} of them to write and check) {money}"
        if forecast.calls.high
        else ""
    )
    work = f"{_range(forecast.searches)} searches, {_range(forecast.pages)} pages"
    return (
        f"{_range(forecast.seconds)} s, {_range(forecast.rounds)} rounds, {forecast.workers} topics"
        f" at once; {work}{model}".rstrip()
    )


def _range(span: Span, unit: str = "") -> str:
    low, high = (
        f"{unit}{number:,.2f}" if unit else f"{number:,.0f}" for number in (span.low, span.high)
    )
    return low if low == high else f"{low} to {high}"
