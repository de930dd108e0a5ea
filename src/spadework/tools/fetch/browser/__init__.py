"""Read pages in Chromium (level 2), through an address-checking proxy."""
