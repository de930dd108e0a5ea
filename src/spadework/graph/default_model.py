"""Which model a run uses when none is named for a role."""

from __future__ import annotations

import httpx

from spadework.agents.model_list import UNREADABLE, listed_models
from spadework.agents.providers import check_address
from spadework.errors import ModelError, SettingsError
from spadework.settings import Settings
from spadework.tools.web.urls import host_of


async def default_model(settings: Settings) -> str:
    """The model of a run as PROVIDER:NAME, or "" when the extractive roles do the work; of a server
    of one's own the only one. Raises ModelError where that has none, or does not say, and
    SettingsError where there is a choice, and for an address that is none.
    """
    named = settings.model_for("writer")
    if named or not settings.openai_base_url:
        return named
    check_address(settings.openai_base_url)
    host = host_of(settings.openai_base_url)
    try:
        names = await listed_models(settings)
    except UNREADABLE as error:
        failed, hint = _explain_failure(error)
        raise ModelError(f"The model server at {host} {failed}.", hint=hint) from None
    if not names:
        raise ModelError(f"The model server at {host} has no model.", hint="Load one there.")
    if len(names) > 1:
        known = ", ".join(names[:5])
        raise SettingsError(
            f"The model server at {host} has {len(names)} models ({known}): name one with --model"
            " openai:NAME."
        )
    return f"openai:{names[0]}"


def _explain_failure(error: Exception) -> tuple[str, str]:
    """What became of the question which models there are, and what would mend it."""
    name_it = "Name its model with --model openai:NAME to have it asked all the same."
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return "did not list its models in time", name_it
    if isinstance(error, httpx.TransportError):
        return "cannot be reached", "Start it, or check OPENAI_BASE_URL."
    if isinstance(error, httpx.HTTPStatusError) and error.response.status_code in (401, 403):
        return "refuses the key", "Check OPENAI_API_KEY."
    return "does not list its models", name_it
