"""Levels 2 and 3 of reading: a Chromium that runs the scripts of a page, behind a proxy that judges
every address.
"""
