"""Level 2: a Chromium that runs scripts, behind a proxy that judges every address."""
