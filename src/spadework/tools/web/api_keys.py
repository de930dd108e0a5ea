"""API keys of services, checked before they go into a header."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.errors import SettingsError


def read_key(secret: SecretStr | None, variable: str) -> str:
    """Return the key in a variable. Raises SettingsError if it is missing or malformed."""
    key = secret.get_secret_value().strip() if secret else ""
    if not key:
        raise SettingsError(f"{variable} is not set.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            f"{variable} cannot be a key: it holds spaces or other characters that no key has."
        )
    return key
