"""What is published works where it is installed: the wheel, in fresh environments of every Python
it is said to run on.

Run by `make release-check`. It is what is committed that is built.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.release.environment import TOOLS, Environment, fresh
from tests.release.pythons import python
from tests.release.wheel import unlinked_clone, wheel_of

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
#: Its packages may not be there yet.
NEWEST = "3.14"
PYTHONS = {version: python(version) for version in VERSIONS}
#: The tests that are run against the wheel.
CHECKED = {
    "the code blocks of README and guides": ["tests/docs/test_examples.py"],
    "schemas and as_tool": ["tests/graph/test_interface.py"],
    "langgraph dev": ["tests/graph/test_server.py", "tests/graph/test_server_with_model.py"],
    "MCP": ["tests/apps/mcp/test_tools.py"],
}

pytestmark = [
    pytest.mark.release,
    pytest.mark.full,
    pytest.mark.timeout(1_800),
    pytest.mark.xdist_group("release"),  # environments are made once
]
_worked: list[str] = []
#: What the wheel and all it needs may take, compiled, in MB.
MOST_MEGABYTES = 300


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unlinked_clone(tmp_path_factory.mktemp("release") / "clone")


@pytest.fixture(scope="module")
def wheel(clone: Path) -> Path:
    return wheel_of(clone, clone.parent)


@pytest.fixture(scope="module")
def tests(clone: Path, wheel: Path) -> Path:
    """A folder with everything of the clone but the source, so that only the wheel can be
    imported; also by a LangGraph server, which finds the graphs by file in a clone.
    """
    copy = clone.parent / "tests-alone"
    shutil.copytree(clone, copy, ignore=shutil.ignore_patterns("src", ".git", "build"))
    named = (copy / "langgraph.json").read_text()
    by_module = re.sub(r"\./src/([\w/]+)\.py", lambda m: m[1].replace("/", "."), named)
    (copy / "langgraph.json").write_text(by_module)
    return copy


@pytest.fixture(scope="module", params=VERSIONS)
def installed(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Environment]:
    """The wheel alone."""
    version = request.param
    if not PYTHONS[version]:
        pytest.skip(f"Python {version} is not on this machine")
    folder = tmp_path_factory.mktemp(version)
    try:
        made = fresh(PYTHONS[version], folder / "venv", wheel)
    except AssertionError:
        if version != NEWEST:
            raise
        pytest.skip(f"the packages do not install on Python {version}")
    yield made
    shutil.rmtree(folder)  # more than half a gigabyte


def test_a_plain_install_is_small(installed: Environment) -> None:
    assert installed.megabytes() < MOST_MEGABYTES


@pytest.fixture(scope="module")
def tooled(installed: Environment) -> Environment:
    """The wheel, and what tests need."""
    installed.install(*TOOLS)
    return installed


def test_a_first_question_is_answered_without_a_network(
    installed: Environment, tmp_path: Path
) -> None:
    # No place on the web can be reached in so short a time.
    code, out, err = installed.run(
        "spadework", "What is pydantic?", cwd=tmp_path, SPADEWORK_PROBE_SECONDS="0.001"
    )
    assert code == 0, err
    assert "The web cannot be reached" in out
    assert "pydantic" in out.partition("## Sources")[2], out
    assert "Building the index of the installed documentation" in err
    code, out, err = installed.run("spadework", "index", cwd=tmp_path)
    told = [line for line in err.splitlines() if not line.startswith("Building the index")]
    assert (code, told) == (0, []), "what of the documentation cannot be read is named here"


@pytest.mark.parametrize("checked", CHECKED)
def test_the_tests_pass_on_the_wheel(
    tooled: Environment, tests: Path, tmp_path: Path, checked: str
) -> None:
    pytest_of = ("python", "-m", "pytest", "-p", "no:cacheprovider", "-m", "", *CHECKED[checked])
    code, out, err = tooled.run(*pytest_of, cwd=tests, HOME=str(tmp_path))
    assert code == 0, f"{out[-6_000:]}{err[-2_000:]}"
    _worked.append(checked)


def test_there_was_a_python_to_check_with() -> None:
    assert _worked, f"none of Python {', '.join(VERSIONS)} works here"
