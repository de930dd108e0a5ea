"""Where this machine has a Chromium or a Chrome: for pages that need a browser, and for printing.

The headless shell is a Chromium without windows, a package or a download of its own; it reads a
page in about half the time.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
)
#: Where macOS has it, and where `playwright install chromium` puts it.
_PLACES = (
    (Path("/Applications"), "Google Chrome.app/Contents/MacOS/Google Chrome"),
    (Path("/Applications"), "Chromium.app/Contents/MacOS/Chromium"),
    (Path("~/.cache/ms-playwright"), "chromium-*/chrome-linux*/chrome"),
    (Path("~/Library/Caches/ms-playwright"), "chromium-*/chrome-mac*/*.app/Contents/MacOS/*"),
    (Path("~/AppData/Local/ms-playwright"), "chromium-*/chrome-win*/chrome.exe"),
)

_SHELL_NAMES = ("chromium-headless-shell", "chrome-headless-shell")
_SHELL_PLACES = tuple(
    (Path(folder), f"chromium_headless_shell-*/*/{name}")
    for folder in (
        "~/.cache/ms-playwright",
        "~/Library/Caches/ms-playwright",
        "~/AppData/Local/ms-playwright",
    )
    for name in (
        "chrome-headless-shell",
        "headless_shell",
        "chrome-headless-shell.exe",
        "headless_shell.exe",
    )
)

#: What to do where there is none.
HOW_TO_INSTALL = (
    "`apt install chromium`, or `pip install playwright && playwright install chromium`"
)


def installed_chromium(path: str = "") -> str:
    """The path of a browser that can be run: `path` if one is given, else the first that is found;
    "" where there is none.
    """
    if path:
        return shutil.which(str(Path(path).expanduser())) or ""
    return _find_browser(_NAMES, _PLACES) or headless_shell()


def headless_shell() -> str:
    """The path of a headless shell; "" where there is none."""
    return _find_browser(_SHELL_NAMES, _SHELL_PLACES)


def _find_browser(names: Sequence[str], places: Sequence[tuple[Path, str]]) -> str:
    if found := next((place for name in names if (place := shutil.which(name))), ""):
        return found
    for folder, pattern in places:
        if placed := next(
            (
                place
                for place in sorted(folder.expanduser().glob(pattern), reverse=True)
                if os.access(place, os.X_OK)
            ),
            None,
        ):
            return str(placed)
    return ""


def runs_as_root() -> bool:
    """True where Chromium starts only without its sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
