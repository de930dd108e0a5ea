"""Read pages at level 2, in Chromium behind a proxy that checks every address."""
