"""Read pages in Chromium (fetch level 2), through a proxy that checks addresses."""
