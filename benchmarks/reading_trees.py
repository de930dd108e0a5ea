"""Fits the trees of the HTML reader's second stage (LightGBM) and writes them as lines."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

TREES = 50
SETTINGS = {
    "objective": "binary",
    "num_leaves": 14,
    "learning_rate": 0.12,
    "min_data_in_leaf": 150,
    "lambda_l2": 5.0,
    "feature_fraction": 0.7,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "max_bin": 63,
    "seed": 1,
    "deterministic": True,
    "num_threads": 1,
    "verbose": -1,
}


def fit_trees(rows: NDArray[Any], content: NDArray[Any], masses: NDArray[Any]) -> list[str]:
    """Trees whose sum is the log-odds that a row is content; `masses` are the rows' weights."""
    data = lightgbm.Dataset(
        rows.astype(np.float32), label=content, weight=masses * len(masses) / masses.sum()
    )
    model = lightgbm.train(SETTINGS, data, TREES)
    return [" ".join(nodes(tree["tree_structure"])) for tree in model.dump_model()["tree_info"]]


def nodes(tree: dict[str, Any]) -> list[str]:
    """A tree as `trees.compiled` reads it."""
    if "leaf_value" in tree:
        return [f"{tree['leaf_value']:.4f}"]
    split = f"{tree['split_feature']}<{tree['threshold']:.5g}"
    return [split, *nodes(tree["left_child"]), *nodes(tree["right_child"])]
