"""Which names a package offers, and under which dotted name, found from its sources alone.

A class defined in `pkg/_client.py` and imported by `pkg/__init__.py` is public as `pkg.Client`.
"""

from __future__ import annotations

from collections.abc import Iterator

from spadework.tools.library.python_sources import Module, Sources

#: How many modules a name may be passed on through before it is given up.
_MAX_HOPS = 5


def public_names(sources: Sources) -> dict[tuple[str, str], str]:
    """For every class or function a public module passes on: (module that defines it, name) → the
    shortest public dotted name.
    """
    found: dict[tuple[str, str], str] = {}
    for module in sources.public():
        for name in _passed_on(module, sources):
            place = _origin(sources, module.name, name)
            public = f"{module.name}.{name}"
            if not place or place[0] == module.name:
                continue
            found[place] = min(found.get(place, public), public, key=len)
    return found


def _passed_on(module: Module, sources: Sources) -> Iterator[str]:
    """The public names from elsewhere. Without `__all__`, only a package passes imports on."""
    if module.listed is not None:
        yield from module.listed - module.defined
        return
    if module.is_package:
        yield from (name for name in module.imports if not name.startswith("_"))
        for star in module.stars:
            if other := sources.get(star):
                yield from (
                    name for name in other.listed or other.defined if not name.startswith("_")
                )


def _origin(sources: Sources, where: str, name: str, hops: int = 0) -> tuple[str, str] | None:
    """The module that defines what `where.name` is, None when it is outside the package."""
    module = sources.get(where)
    if module is None or hops > _MAX_HOPS:
        return None
    if name in module.defined:
        return where, name
    if name in module.imports:
        return _origin(sources, *module.imports[name], hops + 1)
    found = (_origin(sources, star, name, hops + 1) for star in module.stars)
    return next((place for place in found if place), None)
