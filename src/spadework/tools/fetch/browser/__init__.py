"""Levels 2 and 3: a Chromium that runs scripts, behind a proxy that judges every address."""
