"""Read pages in Chromium (level 2), behind a proxy that checks every address."""
