"""Fetching and reading many pages over a slow line: spadework, httpx with trafilatura, and crawl4ai
in one run.

    python benchmarks/fetching.py SITES.tar.gz [--pages 400] [--runs 3] [--crawl4ai PYTHON] [--only
    NAME …]

The pages are HTML files of the archive, served on loopback by a process of its own, 50 ms after
each request, gzipped where that is accepted. Every contender (`fetching_contenders.py`) is one
asyncio program that reads 10 pages at once, after 10 others to warm up; its limits for one host are
lifted. `--crawl4ai` is the Python of an environment that has crawl4ai. CPU seconds and memory count
the processes that a contender starts as its own; memory is the peak of the sum of their resident
sizes, shared libraries counted each time.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import psutil

LATENCY = 0.05
WARM_UP = 10
#: Pages smaller than this are only redirects and stubs.
MIN_BYTES = 3_000
CONTENDERS = ("spadework", "httpx + trafilatura", "crawl4ai")
_SCRIPT = Path(__file__).with_name("fetching_contenders.py")


def pages_of(archive: Path, count: int) -> list[bytes]:
    """So many HTML files of an archive, the same ones every time."""
    with tarfile.open(archive) as tar:
        members = [
            member for member in tar if member.name.endswith(".html") and member.size >= MIN_BYTES
        ]
        names = {
            member.name
            for member in random.Random(4).sample(
                sorted(members, key=lambda member: member.name), count
            )
        }
        # In the order of the archive, which is packed as a whole.
        chosen = [member for member in members if member.name in names]
        pages = [file.read() for member in chosen if (file := tar.extractfile(member))]
    random.Random(4).shuffle(pages)
    return pages


def serve(pages: list[bytes]) -> tuple[threading.Thread, int]:
    """Start answering in a thread of this process, which only waits otherwise; returns the port."""
    packed, port, ready = [gzip.compress(page) for page in pages], [0], threading.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower():
                await asyncio.sleep(LATENCY)
                name = head.split()[1].strip("/").removesuffix(".html")
                body = (
                    packed[int(name)]
                    if name.isdecimal() and "gzip" in head
                    else pages[int(name)]
                    if name.isdecimal()
                    else b""
                )
                encoding = (
                    "Content-Encoding: gzip\r\n" if name.isdecimal() and "gzip" in head else ""
                )
                status = "200 OK" if name.isdecimal() else "404 Not Found"
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{encoding}Content-Length:"
                    f" {len(body)}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port[0] = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    ready.wait()
    return thread, port[0]


def measure(python: str, name: str, base: str, count: int) -> dict[str, Any]:
    """One run of a contender: its own figures, and the peak of its memory in MB."""
    with tempfile.TemporaryDirectory() as home:
        command = [python, str(_SCRIPT), name, base, str(WARM_UP), str(count)]
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "SPADEWORK_HOME": home,
            "CRAWL4_AI_BASE_DIRECTORY": home,
            "CRAWL4AI_NO_CLOUD_NOTICE": "1",
        }
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, resident(process.pid))
            time.sleep(0.05)
        out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{name} failed:\n{err[-2000:]}")
    return json.loads(out.strip().splitlines()[-1]) | {"memory": peak}


def resident(pid: int) -> float:
    """Resident memory of a process and its children, in MB."""
    try:
        process = psutil.Process(pid)
        return (
            sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])
            / 1e6
        )
    except psutil.NoSuchProcess:
        return 0.0


def main() -> None:
    """Run every contender in turn, several times, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archive", type=Path)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--crawl4ai", metavar="PYTHON", help="the Python of an environment with crawl4ai"
    )
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    given = parser.parse_args()
    _, port = serve(pages_of(given.archive, given.pages + WARM_UP))
    pythons = dict.fromkeys(CONTENDERS, sys.executable) | {"crawl4ai": given.crawl4ai}
    names = [name for name in given.only if pythons[name]]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for n in range(given.runs):
        for name in names[n % len(names) :] + names[: n % len(names)]:
            runs[name].append(measure(pythons[name], name, f"http://127.0.0.1:{port}", given.pages))
    print(
        "| | pages per second, median (least to most) | read | CPU seconds | characters | memory,"
        " MB |\n|---|---|---|---|---|---|"
    )
    for name, done in runs.items():
        speeds = sorted(one["pages"] / one["seconds"] for one in done)
        cpu, memory = median(one["cpu"] for one in done), max(one["memory"] for one in done)
        speed = f"{median(speeds):.1f} ({speeds[0]:.1f} to {speeds[-1]:.1f})"
        print(
            f"| {name} | {speed} | {done[0]['pages']} | {cpu:.1f} | {done[0]['chars']:,} |"
            f" {memory:.0f} |"
        )


if __name__ == "__main__":
    main()
