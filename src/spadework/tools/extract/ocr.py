"""The text in a picture, read by RapidOCR (extra `ocr`), whose models come with its package:
nothing is loaded from elsewhere.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from PIL import Image

from spadework.tools.extract.writing import plain

#: An image is made smaller to so many pixels, and to so many on its longer side: more take more
#: memory than a reader has.
MAX_PIXELS = 2_000_000
MAX_SIDE = 2_000
#: A line is kept when the reader is this sure of it, 0..1.
SURE = 0.6
#: A gap between lines of more than this many of their heights parts paragraphs.
GAP = 0.9


def has_ocr() -> bool:
    """Is the extra installed?"""
    return bool(find_spec("rapidocr") and find_spec("onnxruntime"))


def text_in(image: Image.Image) -> str:
    """The lines of text in an image as paragraphs from top to bottom; "" where there are none, or
    the extra is not installed.
    """
    if not has_ocr():
        return ""
    import numpy as np

    share = min(1.0, MAX_SIDE / max(image.size), (MAX_PIXELS / (image.width * image.height)) ** 0.5)
    size = (max(1, int(image.width * share)), max(1, int(image.height * share)))
    image.draft("RGB", size)
    image.thumbnail(size)
    found = _engine()(np.asarray(_on_white(image)))
    if found.txts is None:
        return ""
    lines = [
        (box, text)
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if score >= SURE and text.strip()
    ]
    return _paragraphs(
        [(float(box[:, 1].min()), float(box[:, 1].max()), text.strip()) for box, text in lines]
    )


def _on_white(image: Image.Image) -> Image.Image:
    """An image without transparency: black letters on nothing would be black on black."""
    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image.convert("RGB")
    image = image.convert("RGBA")
    page = Image.new("RGBA", image.size, "white")
    page.alpha_composite(image)
    return page.convert("RGB")


@cache
def _engine() -> Any:
    """The reader with its models, which take a second to load; it works on one core, since
    documents are read side by side.
    """
    from rapidocr import RapidOCR

    own = "EngineConfig.onnxruntime."
    cores = {own + "intra_op_num_threads": 1, own + "inter_op_num_threads": 1}
    return RapidOCR(
        params={"Global.log_level": "critical", own + "enable_cpu_mem_arena": False, **cores}
    )


def _paragraphs(lines: list[tuple[float, float, str]]) -> str:
    """Lines (top, bottom, text) in their order, as paragraphs."""
    parts: list[list[str]] = []
    before = None
    for top, bottom, text in lines:
        if before is None or top - before > GAP * (bottom - top):
            parts.append([])
        parts[-1].append(text)
        before = bottom
    return "\n\n".join(plain("\n".join(part)) for part in parts)
