"""The packages that are installed with Python, and where their files lie."""

from __future__ import annotations

import importlib.metadata
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

#: A longer description is cut.
MAX_DESCRIPTION = 300_000
#: Not searched: our own README quotes questions, and would be the best hit for them.
OURS = "spadework"


@dataclass(frozen=True)
class Package:
    """A distribution or the standard library, with its files below `root`."""

    name: str
    version: str
    root: Path
    files: tuple[str, ...]
    summary: str = ""
    description: str = ""
    description_type: str = ""

    @property
    def collection(self) -> str:
        """The first part of the URLs of its documents."""
        return f"{self.name}-{self.version}"


def installed_packages() -> list[Path]:
    """Every other distribution's metadata folder, by name, without stubs; only names are read."""
    found: dict[str, Path] = {}
    for place in map(Path, sys.path):
        if place.is_dir():
            for entry in [*place.glob("*.dist-info"), *place.glob("*.egg-info")]:
                found.setdefault(entry.stem.partition("-")[0].lower().replace("_", "-"), entry)
    return [found[name] for name in sorted(found) if name != OURS and not name.startswith("types-")]


def package_at(place: Path | None) -> Package:
    """The distribution whose metadata lie at `place`; None is the standard library."""
    if place is None:
        root = Path(sysconfig.get_path("stdlib"))
        files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
        return Package("python", ".".join(map(str, sys.version_info[:3])), root, tuple(files))
    distribution = importlib.metadata.Distribution.at(place)
    # As a table: to ask the metadata for what they do not have is an error in Pythons to come.
    said = {name: str(value) for name, value in distribution.metadata.json.items()}
    return Package(
        name=(said.get("name") or place.stem.partition("-")[0]).lower(),
        version=said.get("version") or "0",
        root=place.parent,
        files=tuple(str(path) for path in distribution.files or () if ".." not in path.parts),
        summary=said.get("summary", ""),
        description=said.get("description", "")[:MAX_DESCRIPTION],
        description_type=said.get("description_content_type", "").partition(";")[0].strip().lower(),
    )
