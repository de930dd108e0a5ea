"""Where this machine has a Chromium or a Chrome: for pages that need a browser, and for printing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
#: Where macOS has it, and where `playwright install chromium` puts it.
_PLACES = (
    (Path("/Applications"), "Google Chrome.app/Contents/MacOS/Google Chrome"),
    (Path("/Applications"), "Chromium.app/Contents/MacOS/Chromium"),
    (Path("~/.cache/ms-playwright"), "chromium-*/chrome-linux*/chrome"),
    (Path("~/Library/Caches/ms-playwright"), "chromium-*/chrome-mac*/*.app/Contents/MacOS/*"),
    (Path("~/AppData/Local/ms-playwright"), "chromium-*/chrome-win*/chrome.exe"),
)

#: What to do where there is none.
HOW_TO_INSTALL = "`apt install chromium`, or `pip install playwright && playwright install chromium`"


def installed_chromium(path: str = "") -> str:
    """The path of a browser that can be run: `path` if one is given, else the first that is found; "" where there is none."""
    if path:
        return shutil.which(Path(path).expanduser()) or ""
    if found := next((place for name in _NAMES if (place := shutil.which(name))), ""):
        return found
    for folder, pattern in _PLACES:
        if placed := next((place for place in sorted(folder.expanduser().glob(pattern), reverse=True) if os.access(place, os.X_OK)), None):
            return str(placed)
    return ""


def runs_as_root() -> bool:
    """True where Chromium starts only without its sandbox."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
