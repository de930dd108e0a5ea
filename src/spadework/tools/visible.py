"""Text as it can be handed to a reader or a model: nothing in it works unseen."""

from __future__ import annotations

import re

#: Control characters but tab and line end, marks that turn the direction of writing, tags that are
#: not drawn, lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
#: Characters that end a line or a page without being a line end.
_BREAKS = re.compile("[\x0b\x0c\r\u2028\u2029]")


def visible(text: str) -> str:
    """The text with U+FFFD for every character that works unseen; as long as before, so that
    offsets in it still hold.
    """
    return _UNSEEN.sub("\ufffd", _BREAKS.sub("\n", text))
