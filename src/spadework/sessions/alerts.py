"""What should be looked at in a session (S12)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from spadework.sessions.session_figures import Figures

#: Shares above which, and for cached answers below which, a session should be looked at.
MOST_TIME, MOST_TOO_LONG, MOST_ERRORS, LEAST_CACHED = 0.90, 0.05, 0.10, 0.50
#: Below this many requests a share says nothing. A provider is left out after so many failures.
FEW = 3

#: What it is about.
Alert = Literal["time", "too long", "searches", "model calls", "unknown"]


def alerts_of(f: Figures) -> list[str]:
    """What should be looked at in a session, each as one sentence."""
    return [f"{f.session_id}: {sentence}." for _, sentence in found_alerts(f)]


def found_alerts(f: Figures) -> Iterator[tuple[Alert, str]]:
    """What should be looked at in a session: what it is about, and that in words."""
    if f.seconds > MOST_TIME * f.seconds_limit > 0:
        yield "time", f"it took {f.seconds:.0f} s of the {f.seconds_limit:.0f} s it was given"
    if _over(f.too_long, f.model_calls, MOST_TOO_LONG):
        yield "too long", f"{f.too_long} of {f.model_calls} requests were too long for the model"
    if _over(f.search_errors, f.searches, MOST_ERRORS):
        yield "searches", _failed(f.search_errors, f.searches, "searches")
    if _over(f.model_errors, f.model_calls, MOST_ERRORS):
        yield "model calls", _failed(f.model_errors, f.model_calls, "model calls")
    if f.follows and f.requests >= FEW and f.cache_hits < LEAST_CACHED * f.requests:
        known = f"only {f.cache_hits} of {f.requests} searches and pages were known"
        yield "unknown", f"{known}, though it follows up another session"


def _failed(errors: int, asked: int, what: str) -> str:
    return f"{errors} of {max(asked, errors)} {what} failed"


def _over(part: int, whole: int, most: float) -> bool:
    whole = max(whole, part)
    return whole >= FEW and part > most * whole
