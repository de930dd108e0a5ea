"""Which model a run uses when none is named for a role."""

from __future__ import annotations

import httpx

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.urls import host_of

#: Seconds to wait for a server's list of models.
LIST_SECONDS = 5.0


async def default_model(settings: Settings) -> str:
    """The model of a run as PROVIDER:NAME, or "" when the extractive roles do the work.

    With a server of one's own and no model named it is the server's only model; SettingsError when
    there is none or a choice.
    """
    named = settings.model_for("writer")
    if named or not settings.openai_base_url:
        return named
    url = settings.openai_base_url.rstrip("/") + "/models"
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else "none"
    try:
        async with httpx.AsyncClient(timeout=LIST_SECONDS) as client:
            answer = (
                (await client.get(url, headers={"Authorization": f"Bearer {key}"}))
                .raise_for_status()
                .json()
            )
        names = [str(model["id"]) for model in answer["data"]]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError):
        raise SettingsError(
            f"The model server at {host_of(settings.openai_base_url)} does not list its models:"
            " name one with --model openai:NAME."
        ) from None
    if len(names) != 1:
        known = ", ".join(names[:5]) or "none"
        raise SettingsError(
            f"The model server at {host_of(settings.openai_base_url)} has {len(names)} models"
            f" ({known}): name one with --model openai:NAME."
        )
    return f"openai:{names[0]}"
