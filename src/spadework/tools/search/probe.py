"""Finding out quickly whether a host can be reached."""

from __future__ import annotations

import asyncio

from spadework.tools.web import name_lookup

#: Seconds after which the next address is tried beside a silent one (RFC 8305).
BESIDE_SECONDS = 0.25


async def reachable(host: str, port: int, *, seconds: float) -> bool:
    """Whether a TCP connection can be made within `seconds`, name look-up included."""
    name_lookup.own()
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(
                host, port, happy_eyeballs_delay=BESIDE_SECONDS
            )
    except (OSError, UnicodeError):
        return False
    writer.close()
    return True
