"""The library: an index over the user's own folders, or over the documentation installed with
Python.
"""
