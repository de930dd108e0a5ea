"""Keys of services: read, and judged before they stand in a header."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.errors import SettingsError


def read_key(secret: SecretStr | None, variable: str) -> str:
    """The key of a variable. Raises SettingsError, without it, if it is missing or no key."""
    key = secret.get_secret_value().strip() if secret else ""
    if not key:
        raise SettingsError(f"{variable} is not set.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            f"{variable} cannot be a key: it holds spaces or other characters that no key has."
        )
    return key
