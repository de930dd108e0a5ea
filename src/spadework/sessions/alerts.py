"""What should be looked at in a session (S12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spadework.sessions.stats import Figures

#: Shares above which, and for cached answers below which, a session should be looked at.
MOST_TIME, MOST_TOO_LONG, MOST_ERRORS, LEAST_CACHED = 0.90, 0.05, 0.10, 0.50
#: Below this many requests a share says nothing. A provider is left out after so many failures.
FEW = 3


def alerts_of(f: Figures) -> list[str]:
    """What should be looked at in a session, each as one sentence."""
    found = []
    if f.seconds > MOST_TIME * f.seconds_limit > 0:
        found.append(f"it took {f.seconds:.0f} s of the {f.seconds_limit:.0f} s it was given")
    if _over(f.too_long, f.model_calls, MOST_TOO_LONG):
        found.append(f"{f.too_long} of {f.model_calls} requests were too long for the model")
    for errors, asked, what in (
        (f.search_errors, f.searches, "searches"),
        (f.model_errors, f.model_calls, "model calls"),
    ):
        if _over(errors, asked, MOST_ERRORS):
            found.append(f"{errors} of {max(asked, errors)} {what} failed")
    if f.follows and f.requests >= FEW and f.cache_hits < LEAST_CACHED * f.requests:
        found.append(
            f"only {f.cache_hits} of {f.requests} searches and pages were known, though it follows"
            " up another session"
        )
    return [f"{f.session_id}: {sentence}." for sentence in found]


def _over(part: int, whole: int, most: float) -> bool:
    whole = max(whole, part)
    return whole >= FEW and part > most * whole
