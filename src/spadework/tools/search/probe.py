"""Finding out quickly whether a host can be reached."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading


async def reachable(host: str, port: int, *, seconds: float) -> bool:
    """Whether a TCP connection to a host can be made within `seconds`, looking up its name
    included.

    The look-up cannot be broken off where name servers are silent. So it runs in a daemon thread,
    which holds up neither the event loop nor the end of the process, as the loop's own threads
    would.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[bool] = loop.create_future()

    def tell(connected: bool) -> None:
        if not answer.done():
            answer.set_result(connected)

    def connect() -> None:
        connected = _connects(host, port, seconds / 2)
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(tell, connected)

    threading.Thread(target=connect, name=f"probe {host}", daemon=True).start()
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        return False


def _connects(host: str, port: int, seconds: float) -> bool:
    """Tries the addresses of a host in turn, each for `seconds`."""
    try:
        socket.create_connection((host, port), timeout=seconds).close()
    except (OSError, UnicodeError):
        return False
    return True
