"""What belongs to a language, a file for each; `language.py` reads them."""
