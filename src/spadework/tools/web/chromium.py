"""Find Chromium or Chrome, and its headless shell, which reads pages in about half the time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

_NAMES = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
]
#: Locations used by macOS and by `playwright install chromium`.
_PLACES = (
    (Path("/Applications"), "Google Chrome.app/Contents/MacOS/Google Chrome"),
    (Path("/Applications"), "Chromium.app/Contents/MacOS/Chromium"),
    (Path("~/.cache/ms-playwright"), "chromium-*/chrome-linux*/chrome"),
    (Path("~/Library/Caches/ms-playwright"), "chromium-*/chrome-mac*/*.app/Contents/MacOS/*"),
    (Path("~/AppData/Local/ms-playwright"), "chromium-*/chrome-win*/chrome.exe"),
)
_SHELL_NAMES = ("chromium-headless-shell", "chrome-headless-shell")
_SHELL_PLACES = tuple(
    (Path(folder), f"ms-playwright/chromium_headless_shell-*/*/{name}{end}")
    for folder in ("~/.cache", "~/Library/Caches", "~/AppData/Local")
    for end in ("", ".exe")
    for name in ("chrome-headless-shell", "headless_shell")
)
HOW_TO_INSTALL = (
    "`apt install chromium`, or `pip install playwright && playwright install chromium`"
)


def installed_chromium(path: str = "") -> str:
    """Return the full path of the browser at `path` or of the first one found, or "" if none."""
    if path:
        return shutil.which(str(Path(path).expanduser())) or ""
    return _find_browser(_NAMES, _PLACES) or headless_shell()


def headless_shell() -> str:
    """Return the path of a headless shell, or ""."""
    return _find_browser(_SHELL_NAMES, _SHELL_PLACES)


def _find_browser(names: Sequence[str], places: Sequence[tuple[Path, str]]) -> str:
    if found := next((place for name in names if (place := shutil.which(name))), ""):
        return found
    for folder, pattern in places:
        for path in sorted(folder.expanduser().glob(pattern), reverse=True):
            if os.access(path, os.X_OK):
                return str(path)
    return ""


def runs_as_root() -> bool:
    """Return whether this process runs as root, which rules out Chromium's sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
