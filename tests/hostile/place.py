"""Where an attack happens: network, mounts and name server that are its own. It needs Linux, and
that it is allowed.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from pathlib import Path

from tests.hostile.naming import Name, NameServer

NAME_SERVER = "127.0.7.53"
_NEW_MOUNTS, _NEW_USERS, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


class NotAllowed(Exception):
    """This process can have no place of its own here."""


def enter(folder: Path) -> None:
    """Give this process, which has one thread, a network of nothing but loopback, mounts of its
    own, and the name server of the attack. `folder` holds the file that says so. Raises NotAllowed.
    """
    user, libc = os.getuid(), ctypes.CDLL(None, use_errno=True)
    unshare = getattr(libc, "unshare", None)
    if not unshare or unshare(_NEW_MOUNTS | _NEW_NETWORK | (_NEW_USERS if user else 0)):
        raise NotAllowed("Namespaces are not there, or not allowed.")
    try:
        if user:
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        mount("--make-rprivate", "/")
        asks = folder / "resolv.conf"
        asks.write_text(f"nameserver {NAME_SERVER}\noptions timeout:5 attempts:2\n")
        mount("--bind", asks, "/etc/resolv.conf")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotAllowed(f"Not all is allowed here: {error}") from None


def mount(*how: str | Path) -> None:
    """Mount something, or change what is mounted."""
    subprocess.run(["mount", *map(str, how)], check=True, capture_output=True)


def unmount(folder: Path) -> None:
    """Take away what is mounted at a folder, also where something is still open there."""
    while not subprocess.run(["umount", "--lazy", folder], capture_output=True).returncode:
        pass


async def serve_names(names: dict[str, Name]) -> None:
    """Answer for these names until the event loop ends."""
    await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(names), local_addr=(NAME_SERVER, 53)
    )
