"""Patterns for country and language codes, which become parts of URLs; "" means none."""

COUNTRY = r"^([a-z]{2})?$"
LANGUAGE = r"^([a-z]{2,12}(-[a-z]{2,12})*)?$"
