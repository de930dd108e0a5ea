"""Hold the size of the code under its ceilings: `python benchmarks/house.py`; part of `make check`.

Prints each figure beside its ceiling in `house.toml`, and fails where one is above. A ceiling is
only ever lowered: `--lower` writes today's figures where they are smaller.
"""

from __future__ import annotations

import ast
import asyncio
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CEILINGS = Path(__file__).with_name("house.toml")
PACKAGE = ROOT / "src" / "spadework"
#: Modules in a folder, `__init__` apart, that a reader can still survey.
ROOM = 15
NOTE = "The council met on 4 March 2025.\nIt decided to dredge the harbour in June.\n"


def sizes() -> Iterator[tuple[str, int]]:
    """Yield lines and files of the package and of each folder, and the number of full folders."""
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files()}
    yield "lines", sum(lines.values())
    yield "files", len(lines)
    folders = sorted(path for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
    for folder in folders:
        inside = [count for path, count in lines.items() if folder in path.parents]
        yield f"lines.{folder.name}", sum(inside)
        yield f"files.{folder.name}", len(inside)
    modules = Counter(path.parent for path in lines if path.name != "__init__.py")
    yield "full_folders", sum(count > ROOM for count in modules.values())


def files() -> list[Path]:
    """Return the modules of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def circles() -> int:
    """Return 1 if modules import each other in a circle at their top level, else 0."""
    modules = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in files()
    }
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph = {name: set(_imported(path, modules)) - {name} for name, path in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        print("import circle:", " -> ".join(error.args[1]))
        return 1
    return 0


def _imported(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield from (
                    found
                    for found in [name if name in modules else node.module]
                    if found in modules
                )
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def not_imperative() -> int:
    """Return how many docstrings of functions do not begin with an imperative verb (D401)."""
    ruff = [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--select", "D401"]
    found = subprocess.run(
        [*ruff, "--output-format", "concise", PACKAGE], capture_output=True, text=True, check=False
    )
    return len(re.findall(r"\bD401\b", found.stdout))


def passed() -> Iterator[tuple[str, int]]:
    """Yield the files of the package that one question over a note runs, and those it loads."""
    done = subprocess.run(
        [sys.executable, __file__, "--trace"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    ran, loaded = done.stdout.split()[-2:]
    yield "files_run", int(ran)
    yield "files_loaded", int(loaded)


def trace() -> None:
    """Ask a question over a note in a fresh home; print the files that ran, and those loaded."""
    ran: set[str] = set()

    def note_file(frame: object, event: str, _argument: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        # Bodies of modules and classes do not count: only functions keep optimised locals.
        if event == "call" and code.co_flags & 1 and code.co_filename.startswith(str(PACKAGE)):
            ran.add(code.co_filename)

    import threading

    threading.setprofile(note_file)
    sys.setprofile(note_file)
    from spadework import Budget, Settings, research

    with tempfile.TemporaryDirectory() as home:
        notes = Path(home, "notes")
        notes.mkdir()
        (notes / "harbour.md").write_text(f"# Harbour\n\n{NOTE}", encoding="utf-8")
        settings = Settings(home=Path(home, "home"), search="library", library=(str(notes),))
        asyncio.run(
            research("What did the council decide?", settings=settings, budget=Budget(minutes=2))
        )
        sys.setprofile(None)
    paths = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    print(len(ran), sum(path.startswith(str(PACKAGE)) for path in paths))


def measure() -> dict[str, int]:
    """Return every figure by its name."""
    from spadework.settings import Settings

    figures = dict(sizes())
    figures |= {"circles": circles(), "settings": len(Settings.model_fields)}
    return figures | {"not_imperative": not_imperative()} | dict(passed())


def main(arguments: list[str]) -> int:
    """Compare each figure with its ceiling; return 1 where one is above it, or has none."""
    if arguments == ["--trace"]:
        trace()
        return 0
    figures, ceilings = measure(), tomllib.loads(CEILINGS.read_text(encoding="utf-8"))
    if arguments == ["--lower"]:
        ceilings = {name: min(value, ceilings.get(name, value)) for name, value in figures.items()}
        text = "".join(f'"{name}" = {value}\n' for name, value in ceilings.items())
        head = "# Ceilings of benchmarks/house.py. They may only fall.\n"
        CEILINGS.write_text(head + text, encoding="utf-8")
    above = [name for name, value in figures.items() if value > ceilings.get(name, -1)]
    for name, value in figures.items():
        print(f"{name:<22}{value:>8}{ceilings.get(name, 0):>8}{'  above' * (name in above)}")
    if above:
        print(f"Above its ceiling in {CEILINGS.name}: {', '.join(above)}.", file=sys.stderr)
    return bool(above)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
