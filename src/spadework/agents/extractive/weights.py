"""The fitted weights, read from weights.toml; `benchmarks/answers_sweep.py` makes that file."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import ConfigDict

from spadework.values import Value


class Extent(Value):
    """How much is quoted: at most `room` characters, and nothing that scores more than `within`
    below the best.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    room: int
    within: float


class Weights(Value):
    """`candidate` weighs the features of a candidate, `answered` those of what was chosen (with
    `bias`); `fact` is the extent of an answer of a sentence or two, `more` of any other; `kind`
    holds for each kind of question what its cues weigh.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    candidate: Mapping[str, float]
    answered: Mapping[str, float]
    kind: Mapping[str, Mapping[str, float]]
    beside: float
    long: float
    same: float
    fact: Extent
    more: Extent


@cache
def weights() -> Weights:
    """The weights of this version."""
    text = (files("spadework.agents.extractive") / "weights.toml").read_text(encoding="utf-8")
    return Weights.model_validate(tomllib.loads(text))


def weigh_features(found: Mapping[str, float], by: Mapping[str, float]) -> float:
    """The sum of some features, each by its weight; one without a weight counts nothing."""
    return math.fsum(weight * found.get(name, 0.0) for name, weight in by.items() if name != "bias")


def probability(found: Mapping[str, float], by: Mapping[str, float]) -> float:
    """The logistic function of that sum and the bias, 0..1."""
    return 1 / (1 + math.exp(-(weigh_features(found, by) + by.get("bias", 0.0))))
