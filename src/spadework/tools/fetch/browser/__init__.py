"""Level 2: Chromium running scripts, behind a proxy that checks every address."""
