"""How a country and a language are written, or "" for none: they become parts of addresses."""

COUNTRY = r"^([a-z]{2})?$"
LANGUAGE = r"^([a-z]{2,12}(-[a-z]{2,12})*)?$"
