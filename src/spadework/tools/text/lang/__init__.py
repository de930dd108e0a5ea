"""Language data, one file per language, read by `language.py`."""
