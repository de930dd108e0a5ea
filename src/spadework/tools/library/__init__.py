"""The library: an index over the user's own folders, or over the documentation installed with
Python.
"""

from __future__ import annotations

from spadework.tools.library.document import Document
from spadework.tools.library.library import Library
from spadework.tools.library.parts import Skipped

__all__ = ["Document", "Library", "Skipped"]
