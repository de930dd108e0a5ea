"""The processes of our browser: found by the proxy they were started with, ended if they do not end
by themselves.
"""

from __future__ import annotations

import contextlib

import psutil

#: Seconds until the killed are gone.
GONE_SECONDS = 3.0


def of_browser(proxy: str) -> list[psutil.Process]:
    """The Chromium that this process has started with the proxy at `proxy`, all that it has
    started, and the driver between.
    """
    own = psutil.Process()
    above, found = {own, *own.parents()}, list[psutil.Process]()
    for child in own.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if f"--proxy-server={proxy}" in child.cmdline():
                found += [child, *child.children(recursive=True), *child.parents()]
    return list(dict.fromkeys(process for process in found if process not in above))


def end(processes: list[psutil.Process]) -> None:
    """Kill what is left of `processes`. Blocks until they are gone, for at most GONE_SECONDS."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, GONE_SECONDS)
