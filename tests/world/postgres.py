"""A PostgreSQL server of its own, from the system's packages, as a user without rights: started,
stopped in any way and started again by a test.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

import psycopg

#: Where Debian and others put its programs, the newest version last.
_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
#: The user that it runs as where the tests run as root, as which it does not run.
_USER = "postgres"
#: Longest wait for it to start or to stop, in seconds.
PATIENCE = 180.0


def program(name: str) -> str:
    """The path of one of its programs, "" where it is not installed."""
    found = [path for place in _PLACES for path in sorted(Path("/").glob(f"{place[1:]}/{name}"))]
    return str(found[-1]) if found else shutil.which(name) or ""


class Postgres:
    """One server with its data in a temporary folder, on a port of loopback. `host` and `port` are
    where it listens, also after it was started again. What is not `durable` survives its end in any
    way, and not the machine's.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="spadework-postgres-"))
        self.host, self.port = "127.0.0.1", _free_port()
        self._own = {"user": _USER, "group": _USER} if os.getuid() == 0 else {}
        if self._own:
            shutil.chown(self.folder, _USER, _USER)
        self.data = self.folder / "data"
        self._databases = 0
        self._fsync = "on" if durable else "off"
        self._run(
            *("initdb", "-D", str(self.data), "-U", "spadework", "--auth=trust"),
            *("--encoding=UTF8", "--locale=C", "--no-sync"),
        )
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self) -> str:
        """The address of a new database."""
        self._databases += 1
        name = f"world_{self._databases}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def address(self, name: str) -> str:
        """The address of a database."""
        return f"postgresql://spadework@{self.host}:{self.port}/{name}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [
            *(program("postgres"), "-D", str(self.data), "-p", str(self.port)),
            *("-k", str(self.folder), "-c", f"listen_addresses={self.host}"),
            *("-c", "max_connections=200", "-c", f"fsync={self._fsync}"),
        ]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
                **self._own,  # type: ignore[call-overload]
            )
        until = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self.address("postgres")).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < until, (self.folder / "log").read_text()
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections at once, SIGQUIT is as a crash."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)

    def _run(self, name: str, *arguments: str) -> None:
        done = subprocess.run(
            [program(name), *arguments],
            capture_output=True,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "USER": getpass.getuser()},
            cwd=self.folder,
            timeout=PATIENCE,
            **self._own,  # type: ignore[call-overload]
        )
        assert done.returncode == 0, done.stderr.decode()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
