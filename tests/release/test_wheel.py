"""A clone without symbolic links builds the whole wheel."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

from tests.release.wheel import said, unlinked_clone, wheel_of

#: A folder of the product, and a file of it that is no code.
DATA = {
    "graph": "",
    "agents": "",
    "tools": "",
    "prompts": "lead.md",
    "sessions": "",
    "apps": "web/static/page.css",
}


def test_the_wheel_of_a_clone_without_links_holds_every_file_of_the_product(tmp_path: Path) -> None:
    clone = unlinked_clone(tmp_path / "clone")
    links = said("git", "-C", str(clone), "ls-files", "--format=%(objectmode) %(path)")
    linked = [line.split()[1] for line in links.splitlines() if line.startswith("120000")]
    assert not any((clone / name).is_symlink() for name in linked)
    committed = said("git", "-C", str(clone), "ls-files", "src/spadework").splitlines()
    with ZipFile(wheel_of(clone, tmp_path)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == {name.removeprefix("src/") for name in committed}
    for folder, data in DATA.items():
        assert f"spadework/{folder}/__init__.py" in names
        assert not data or f"spadework/{folder}/{data}" in names
