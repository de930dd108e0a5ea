"""The files that start everything in containers name what there is: settings, commands, extras."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from pydantic import AliasChoices

from spadework.apps.cli import app
from spadework.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "docker.md").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if "build" in service]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def variables() -> set[str]:
    """The variables of the environment that are settings."""
    names = set[str]()
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        names |= {str(one) for one in alias.choices} if isinstance(alias, AliasChoices) else set()
        names.add(f"SPADEWORK_{name.upper()}")
    return names


@pytest.mark.parametrize("name", OURS)
def test_each_variable_is_a_setting_and_each_value_fits_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = SERVICES[name]["environment"]
    assert set(given) <= variables()
    for variable, value in given.items():
        if value is not None:
            monkeypatch.setenv(variable, re.sub(r"\$\{\w+(:\?[^}]*)?\}", "said", str(value)))
    assert Settings.load().drain_seconds < seconds(SERVICES[name]["stop_grace_period"])


def test_each_command_is_one_of_spadework() -> None:
    known = typer.main.get_command(app)
    for name in OURS:
        command, *options = SERVICES[name]["command"]
        found = known.get_command(typer.Context(known), command)  # type: ignore[attr-defined]
        assert found, command
        taken = {word for one in found.params for word in one.opts}
        assert {option for option in options if option.startswith("--")} <= taken


def test_each_secret_comes_from_the_environment_and_stands_in_the_guide() -> None:
    text = (ROOT / "compose.yaml").read_text()
    asked = set(re.findall(r"\$\{(\w+):\?", text))
    assert asked == {"POSTGRES_PASSWORD", "SEARXNG_SECRET", "SPADEWORK_TOKEN"}
    assert not re.findall(r"(?i)(?:key|token|secret|password)\w*: *[\"']?\w", text)
    for name in asked:
        assert f"{name}=" in GUIDE


def test_what_services_refer_to_is_there() -> None:
    for service in SERVICES.values():
        assert set(service.get("depends_on", {})) <= set(SERVICES)
        assert {mount.partition(":")[0] for mount in service.get("volumes", [])} <= set(
            COMPOSE["volumes"]
        )
        assert {one["source"] for one in service.get("configs", [])} <= set(COMPOSE["configs"])
        assert re.search(r":\w", service["image"]), "every image has a tag"
    searxng = yaml.safe_load(COMPOSE["configs"]["searxng"]["content"])
    assert "json" in searxng["search"]["formats"], "else it answers no program"


def test_the_image_is_made_of_what_there_is_and_runs_without_root() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [extras] = re.findall(r"^ARG EXTRAS=(.*)$", DOCKERFILE, re.MULTILINE)
    assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"])
    [copied] = re.findall(r"^COPY (.*) \./$", DOCKERFILE, re.MULTILINE)
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    for name in [*copied.split(), "src"]:
        assert (ROOT / name).exists()
        assert f"!{name}" in kept
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE, re.MULTILINE)


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))
