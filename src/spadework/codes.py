"""Patterns of country and language codes, or "" for none: they become parts of URLs."""

COUNTRY = r"^([a-z]{2})?$"
LANGUAGE = r"^([a-z]{2,12}(-[a-z]{2,12})*)?$"
