"""On PYTHONPATH, a machine without a network: no name but its own leads anywhere."""

from __future__ import annotations

import socket
from typing import Any

_look_up = socket.getaddrinfo


def _own_names_alone(host: Any, *asked: Any, **how: Any) -> list[Any]:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost") or name.startswith("127."):
        return _look_up(host, *asked, **how)
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


socket.getaddrinfo = _own_names_alone  # type: ignore[assignment]
