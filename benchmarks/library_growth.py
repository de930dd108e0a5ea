"""How the figures of a library grow with its passages, drawn as SVG: four small plots over a
logarithmic axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Title, which step's figure, its floor or ceiling where there is one.
_PLOTS = (
    ("passages a second", "built", "per_second", 5_000),
    ("p95 of a query, ms", "asked", "p95_ms", 50),
    ("memory while indexing, MB", "built", "rss_mb", 500),
    ("opening, ms", "asked", "open_ms", 1_000),
)
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 260, 120, 30, 40, 60
Grown = Sequence[dict[str, dict[str, float]]]


def drawn(grown: Grown) -> str:
    """The SVG of the figures of several sizes, smallest first; the dashed line is what must be
    kept.
    """
    width, height = 2 * (_WIDTH + _GAP) + _LEFT, 2 * (_HEIGHT + _GAP) + _TOP
    plots = "".join(_plot(n % 2, n // 2, grown, plot) for n, plot in enumerate(_PLOTS))
    style = (
        "text{font:12px"
        " sans-serif}.line{fill:none;stroke:#0b6}.must{stroke:#c33;stroke-dasharray:4}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width}'
        f' {height}"><style>{style}</style>{plots}</svg>\n'
    )


def _plot(column: int, row: int, grown: Grown, plot: tuple[str, str, str, float]) -> str:
    title, step, name, must = plot
    left, top = _LEFT + column * (_WIDTH + _GAP), _TOP + row * (_HEIGHT + _GAP)
    sizes = [math.log10(each["built"]["passages"]) for each in grown]
    values = [each[step][name] for each in grown]
    most = max(*values, must) * 1.1
    span = (sizes[-1] - sizes[0]) or 1.0
    across = [left + (size - sizes[0]) / span * _WIDTH for size in sizes]
    points = [
        (x, top + _HEIGHT * (1 - value / most)) for x, value in zip(across, values, strict=True)
    ]
    level = top + _HEIGHT * (1 - must / most)
    marks = "".join(
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3"/><text x="{x:.0f}" y="{y - 8:.0f}"'
        f' text-anchor="middle">{value:,.0f}</text><text x="{x:.0f}" y="{top + _HEIGHT + 16}"'
        f' text-anchor="middle">{each["built"]["passages"]:,.0f}</text>'
        for (x, y), value, each in zip(points, values, grown, strict=True)
    )
    line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
    floor = (
        f'<line class="must" x1="{left}" x2="{left + _WIDTH}" y1="{level:.0f}" y2="{level:.0f}"/>'
    )
    return (
        f'<text x="{left}" y="{top - 16}">{title}</text>{floor}<polyline class="line"'
        f' points="{line}"/>{marks}'
    )
