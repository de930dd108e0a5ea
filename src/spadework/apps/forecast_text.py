"""An estimate in words, the same in every interface."""

from __future__ import annotations

from spadework.apps.messages import number_of
from spadework.values import Forecast, Span

#: Below this many seconds, tenths are shown.
FINE = 20


def foretold(forecast: Forecast) -> str:
    """Return an estimate as one line."""
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
    # The typical time, if known, and the range.
    rounds, span = _range(forecast.rounds), forecast.seconds
    usual = f"{_seconds(span)} s"
    if span.median is not None:
        usual = f"about {_form(span).format(span.median)} s ({usual})"
    told = (
        f"{usual}, {rounds} round{'' if rounds == '1' else 's'},"
        f" {number_of(forecast.workers, 'topic')} at once; {work}{model}".rstrip()
    )
    if not forecast.runs:
        return f"{told}; rough: fewer than five similar runs yet"
    return f"{told}; from the last {forecast.runs} similar runs"


def took_beside(forecast: Forecast, seconds: float) -> str:
    """Return how a run's time compares to its estimate, in words."""
    span = forecast.seconds
    if span.low <= seconds <= span.high:
        return f"as estimated ({_seconds(span)} s)"
    return f"{'less' if seconds < span.low else 'more'} than estimated ({_seconds(span)} s)"


def _seconds(span: Span) -> str:
    low, high = (_form(span).format(end) for end in (span.low, span.high))
    return low if low == high else f"{low} to {high}"


def _form(span: Span) -> str:
    return "{:,.0f}" if span.high >= FINE else "{:,.1f}"


def _range(span: Span, unit: str = "") -> str:
    low, high = (
        f"{unit}{number:,.2f}" if unit else f"{number:,.0f}" for number in (span.low, span.high)
    )
    return low if low == high else f"{low} to {high}"
