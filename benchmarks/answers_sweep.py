"""Fits the weights of the judge without a model, and of the kinds of questions:
`python benchmarks/answers_sweep.py DATA collect`, then `fit`, which prints what each part brings
and writes `src/spadework/agents/extractive/weights.toml`.

Only the *dev* halves of `answers/questions.jsonl`, `what_is.py` and `how_to_use.py` are used.
`collect` runs every question and keeps the passages that the judge was shown; `fit` weighs their
candidates by a softmax over those of a question (the likelihood that a fact stands in the highest),
cross-validated by question, and the claim that the answer is there by a logistic regression on what
was chosen, out of fold.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import how_to_use
import numpy as np
import what_is
from answers import left_out, questions
from answers_figures import KINDS
from answers_match import blocks, met
from answers_web import english

from spadework.agents import assessor
from spadework.agents.confirming import FACTS
from spadework.agents.extractive import judge
from spadework.agents.extractive import weights as weighing
from spadework.agents.extractive.candidate_features import Asked, Parts
from spadework.agents.extractive.candidates import Candidate, candidates
from spadework.agents.extractive.judge import Scored
from spadework.agents.extractive.question_parts import _KINDS, read
from spadework.agents.passage_view import PassageView
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.text.language import language

Row = dict[str, Any]
Array = np.ndarray
FOLDS = 6
#: Kinds that are asked like a fact, and those that are no kind of their own.
SAME_KIND = {"row": "fact", "count": "fact", "two-page": ""}
WEIGHTS = Path(weighing.__file__).with_name("weights.toml")


def shown_for(row: Row, sites: list[str], home: str) -> tuple[Row, list[PassageView]]:
    """The passages that the judge of a run is shown for its first topic."""
    seen: list[list[PassageView]] = []
    judged = assessor.extractive.assess

    def watched(plan: Any, topic: Any, shown: Any, known: Any) -> Any:
        seen.append(list(shown))
        return judged(plan, topic, shown, known)

    assessor.extractive.assess = watched
    wanted: dict[str, Any] = {"library": [Path(site) for site in sites]} if sites else {}
    settings = Settings.load(
        home=home,
        search="library",
        search_cache_mb=0,
        knowledge=False,
        iterations=1,
        **wanted,
    )
    try:
        asyncio.run(research(row["question"], settings))
    finally:
        assessor.extractive.assess = judged
    return row, seen[0] if seen else []


def collect(options: argparse.Namespace) -> None:
    """Run all questions of dev for one round, and keep what was shown."""
    sites = english(options.data, options.work / "pages", left_out())
    home = str(options.work / "home")
    work = [(row, [str(s.resolve()) for s in sites], home) for row in questions("dev", False)]
    work += [(row, [], home) for row in (*what_is.rows("dev"), *how_to_use.rows("dev"))]
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=40) as pool:
        done = pool.starmap(shown_for, work, chunksize=4)
    (options.work / "shown.pkl").write_bytes(pickle.dumps(done))


class Example:
    """A question with its candidates: their features and which facts stand in each."""

    def __init__(self, row: Row, shown: list[PassageView]) -> None:
        self.row = row
        whole = whole_ranking(row["question"], shown)
        views = judge.rank_candidates(row["question"], "en", shown)
        self.views = [View(row, *whole), *(View(row, *view) for view in views)]
        self.x, self.y, self.names = self.views[0].x, self.views[0].y, self.views[0].names


def whole_ranking(question: str, shown: list[PassageView]) -> tuple[Asked, list[Scored]]:
    """The ranking of a question as one aspect, on which the weights are fitted."""
    found = candidates(shown)
    parts = [Parts.of(one) for one in found]
    asked = Asked(question, "en", [each.own for each in parts])
    return asked, judge.rank(asked, found, parts, shown)


class View:
    """The candidates for one aspect of a question (z: standardised features)."""

    def __init__(self, row: Row, asked: Asked, ranked: list[Scored]) -> None:
        self.asked = asked
        self.ranked = sorted(ranked, key=lambda s: -judge_rough(s))
        self.names = list(self.ranked[0].features) if self.ranked else []
        self.x = np.array([[s.features[n] for n in self.names] for s in self.ranked])
        self.y = np.array([facts_of(row, s.candidate) for s in self.ranked], dtype=bool)
        self.z = self.x

    def scored(self, weights: Array, columns: list[int]) -> list[Scored]:
        """The candidates by these weights, best first."""
        made = [
            Scored(s.candidate, s.parts, s.features, float(score))
            for s, score in zip(self.ranked, self.z[:, columns] @ weights, strict=True)
        ]
        return sorted(judge._lift_neighbours(made), key=lambda s: -s.score)


def facts_of(row: Row, one: Candidate) -> list[bool]:
    """Which facts stand in a candidate."""
    found = blocks(quoted(one))
    return [met(fact, found) for fact in row["facts"]]


def judge_rough(one: Scored) -> float:
    """An order that does not depend on the weights."""
    return one.features["clause"] + one.features["all"]


def quoted(one: Candidate) -> str:
    """A candidate as the report would show it, without the sentence that introduces it: that is a
    candidate of its own.
    """
    start = one.shown.start
    parts = [one.shown.text[a - start : b - start] for a, b in one.spans]
    if one.kind == "code":
        return f"```\n{parts[0]}\n```"
    marks = "- " if one.kind in ("item", "list") else ""
    return "\n".join(f"{marks}{part}" for part in (*parts, one.text * (one.kind == "row")))


def fit_ranking(
    examples: list[Example],
    columns: list[int],
    ridge: float,
    turns: int = 250,
    known_by: Array | None = None,
) -> Array:
    """Weights of the standardised features: gradient ascent (Adam) on the log of the softmax share
    of the candidates that hold a fact, each fact of a question weighing 1/sqrt(its facts). Where
    weights of plain features are known already, only what these columns add is fitted.
    """
    known = [(each, facts) for each in examples if (facts := _telling(each)).size]
    x = np.vstack([each.views[0].z[:, columns] for each, _ in known])
    ahead = np.zeros(len(x))
    if known_by is not None:
        ahead = np.concatenate([each.x @ known_by for each, _ in known])
    sizes = np.array([len(each.x) for each, _ in known])
    starts = np.r_[0, sizes.cumsum()[:-1]]
    weighs = np.array([each.y.shape[1] ** -0.5 for each, _ in known])
    held = np.repeat([len(facts) * w for (_, facts), w in zip(known, weighs, strict=True)], sizes)
    weights = np.zeros(len(columns))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for turn in range(1, turns + 1):
        scores = ahead + x @ weights
        raised = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        pull = -held * raised / np.repeat(np.add.reduceat(raised, starts), sizes)
        for start, size, (_, facts), weight in zip(starts, sizes, known, weighs, strict=True):
            inside = facts * raised[start : start + size]
            pull[start : start + size] += weight * (inside / inside.sum(1, keepdims=True)).sum(0)
        slope = pull @ x - ridge * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        step = first / (1 - 0.9**turn) / (np.sqrt(second / (1 - 0.99**turn)) + 1e-8)
        weights += 0.05 * step
    return weights


def _telling(example: Example) -> Array:
    """For each fact of a question which candidates hold it, where not none and not most do."""
    facts = [held for held in example.y.T if held.any() and held.mean() < 0.5]
    return np.array(facts, dtype=float)


def logistic(x: Array, y: Array, ridge: float, ahead: Array | None = None) -> Array:
    """Weights and bias (last) of a logistic regression, by Newton's method; without a bias, of what
    they add, where something is told `ahead`.
    """
    rows = x if ahead is not None else np.c_[x, np.ones(len(x))]
    weights, penalty = np.zeros(rows.shape[1]), np.eye(rows.shape[1]) * ridge
    if ahead is None:
        penalty[-1, -1] = 1e-6
    for _ in range(40):
        told = rows @ weights + (0.0 if ahead is None else ahead)
        p = 1 / (1 + np.exp(-np.clip(told, -30, 30)))
        slope = rows.T @ (p - y) + penalty @ weights
        curve = (rows * (p * (1 - p))[:, None]).T @ rows + penalty
        weights -= np.linalg.solve(curve, slope)
    return weights


@dataclass
class Chosen:
    """What the judge would choose for a question, and the features by which it tells how likely
    that holds the answer.
    """

    facts: list[bool]
    told: dict[str, float]


def chosen(each: Example, weights: Array, columns: list[int], room: int = 0) -> Chosen:
    """What the judge would choose by these weights, as `judge.judged` does; for so much `room`
    where that is given.
    """
    taken: list[Scored] = []
    found, facts = [], np.zeros(each.y.shape[1], dtype=bool)
    aspects = each.views[1:]
    short = read(each.row["question"]).expects in FACTS
    extent = judge.extent_for(len(aspects), short=short and not room)
    if room:
        extent = extent.model_copy(update={"room": room // len(aspects)})
    for view in aspects:
        order = view.scored(weights, columns)
        own = judge.choose(order, extent.room, [], taken)
        place = {id(s.candidate): n for n, s in enumerate(view.ranked)}
        if own:
            found.append(judge.choice_features(view.asked, order, own))
            own = judge.near(own, extent.within)
            facts |= view.y[[place[id(s.candidate)] for s in own]].any(0)
        taken += own
    return Chosen([bool(fact) for fact in facts], judge.together(found, len(aspects)))


def out_of_fold(examples: list[Example], columns: list[int], ridge: float) -> list[Array]:
    """For every question the weights fitted without it."""
    made: list[Array] = [np.zeros(0)] * len(examples)
    known = [e for e in examples if e.row["answerable"]]
    for fold in range(FOLDS):
        held = {id(e) for e in examples[fold::FOLDS]}
        weights = fit_ranking([e for e in known if id(e) not in held], columns, ridge)
        for n in range(fold, len(examples), FOLDS):
            made[n] = weights
    return made


def recall(examples: list[Example], by: list[Array], columns: list[int], room: int) -> float:
    """The share of all facts that stand in what is chosen."""
    found = [
        fact
        for each, weights in zip(examples, by, strict=True)
        if each.row["answerable"]
        for fact in chosen(each, weights, columns, room).facts
    ]
    return sum(found) / len(found)


def holds_answer(row: Row, found: list[bool]) -> bool:
    """As answers_figures.right says."""
    share = sum(found) / len(found)
    return bool(row["answerable"]) and (share == 1 or (len(found) > 2 and share >= 2 / 3))


def fit(options: argparse.Namespace) -> None:
    """Fit everything on what was collected, print the sweep, write the weights."""
    examples = _examples(options)
    spread = standardised(examples)
    names = examples[0].names
    if options.claim:
        _fit_claim_alone(examples, options)
        return
    if options.only:
        _fit_beside(examples, spread, options)
        return
    kept = _without_idle(examples, list(range(len(names))), names, options)
    by = out_of_fold(examples, kept, options.ridge)
    _print_rooms(examples, by, kept)
    known = [each for each in examples if each.row["answerable"]]
    final = fit_ranking(known, kept, options.ridge) / spread[kept]
    candidate = {names[n]: float(w) for n, w in zip(kept, final, strict=True)}
    answered = _fit_answered(examples, by, kept, options)
    _write(candidate, answered, _fit_kinds())


def _fit_claim_alone(examples: list[Example], options: argparse.Namespace) -> None:
    """Fit the claim anew on what the weights of candidates as they are choose."""
    old, names = weighing.weights(), examples[0].names
    for each in examples:
        for view in each.views:
            view.z = view.x
    by = np.array([old.candidate.get(name, 0.0) for name in names])
    answered = _fit_answered(examples, [by] * len(examples), list(range(len(names))), options)
    _write(dict(old.candidate), answered, {kind: dict(cues) for kind, cues in old.kind.items()})


def _fit_beside(examples: list[Example], spread: Array, options: argparse.Namespace) -> None:
    """Fit the signals of `--only` and write them beside the others, which stay as they are."""
    old, names, only = weighing.weights(), examples[0].names, options.only
    candidate = {name: value for name, value in old.candidate.items() if name not in only}
    new = [n for n, name in enumerate(names) if name in only]
    known_by = np.array([candidate.get(name, 0.0) for name in names])
    known = [each for each in examples if each.row["answerable"]]
    fitted = fit_ranking(known, new, options.ridge, known_by=known_by) / spread[new]
    candidate |= {names[n]: float(w) for n, w in zip(new, fitted, strict=True)}
    by = np.array([candidate.get(name, 0.0) for name in names])
    for each in examples:
        for view in each.views:
            view.z = view.x
    picked = [chosen(each, by, list(range(len(names)))) for each in examples]
    y = np.array([holds_answer(e.row, p.facts) for e, p in zip(examples, picked, strict=True)])
    claim = {name: value for name, value in old.answered.items() if name not in only}
    ahead = np.array([claim["bias"] + weighing.weigh_features(p.told, claim) for p in picked])
    added = [name for name in picked[0].told if name in only]
    x = np.array([[p.told[name] for name in added] for p in picked])
    wide = x.std(0) + 1e-9
    weights = logistic(x / wide, y.astype(float), options.answered_ridge, ahead)
    claim = {name: float(w) for name, w in zip(added, weights / wide, strict=True)} | claim
    _write(candidate, claim, {kind: dict(cues) for kind, cues in old.kind.items()})


def standardised(examples: list[Example]) -> Array:
    """Standardise the features of all views; returns the spread of each feature."""
    stacked = np.vstack([each.x for each in examples])
    spread: Array = stacked.std(0) + 1e-9
    for each in examples:
        for view in each.views:
            view.z = (view.x - stacked.mean(0)) / spread
    return spread


def _examples(options: argparse.Namespace) -> list[Example]:
    """The questions with their candidates; made again when what was shown is newer."""
    shown, made = options.work / "shown.pkl", options.work / "examples.pkl"
    if made.exists() and made.stat().st_mtime > shown.stat().st_mtime:
        known: list[Example] = pickle.loads(made.read_bytes())
        return known
    work = [(row, found) for row, found in pickle.loads(shown.read_bytes()) if found]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        examples = pool.starmap(Example, work, chunksize=4)
    made.write_bytes(pickle.dumps(examples))
    return examples


def _rooms(examples: list[Example], columns: list[int], ridge: float) -> float:
    by = out_of_fold(examples, columns, ridge)
    return float(np.mean([recall(examples, by, columns, room) for room in (500, 1000, 1600)]))


def _without_idle(
    examples: list[Example], columns: list[int], names: list[str], options: argparse.Namespace
) -> list[int]:
    """The features without those that bring nothing: one after the other is left out, where what is
    left is as good without it.
    """
    best = _rooms(examples, columns, options.ridge)
    print(f"all {len(columns)} features: {best:.4f} of the facts (mean of three rooms)")
    if not options.eliminate:
        return columns
    for column in list(columns):
        fewer = [c for c in columns if c != column]
        without = _rooms(examples, fewer, options.ridge)
        gone = without >= best
        print(
            f"  without {names[column]:<16} {without:.4f}{'  left out' if gone else ''}", flush=True
        )
        if gone:
            columns, best = fewer, without
    return columns


def _print_rooms(examples: list[Example], by: list[Array], columns: list[int]) -> None:
    for room in (300, 500, 800, 1000, 1200, 1600, 2400):
        print(f"  room for {room} characters: {recall(examples, by, columns, room):.3f}")
    for kind in KINDS:
        own = [(e, w) for e, w in zip(examples, by, strict=True) if e.row["kind"] == kind]
        if any(e.row["answerable"] for e, _ in own):
            known, weights = [e for e, _ in own], [w for _, w in own]
            print(f"  {kind}: {recall(known, weights, columns, 1200):.3f} at 1200")


def _fit_answered(
    examples: list[Example], by: list[Array], columns: list[int], options: argparse.Namespace
) -> dict[str, float]:
    picked = [chosen(e, w, columns) for e, w in zip(examples, by, strict=True)]
    found = [each.told for each in picked]
    right = [holds_answer(e.row, one.facts) for e, one in zip(examples, picked, strict=True)]
    names = sorted({name for each in found for name in each})
    x = np.array([[each.get(name, 0.0) for name in names] for each in found])
    y = np.array(right, dtype=float)
    spread = x.std(0) + 1e-9
    z = (x - x.mean(0)) / spread
    p = told_out_of_fold(z, y, options.answered_ridge)
    if options.eliminate:
        print(f"  all {len(names)} features of the claim: Brier {((p - y) ** 2).mean():.4f}")
        for n, name in enumerate(names):
            without = told_out_of_fold(np.delete(z, n, axis=1), y, options.answered_ridge)
            print(f"  without {name:<16} {((without - y) ** 2).mean():.4f}")
    _print_claims(p, y)
    _print_curve(z, y, options.answered_ridge)
    w = logistic(z, y, options.answered_ridge)
    weights = {name: float(v) for name, v in zip(names, w[:-1] / spread, strict=True)}
    weights["bias"] = float(w[-1] - (w[:-1] * x.mean(0) / spread).sum())
    return weights


def told_out_of_fold(z: Array, y: Array, ridge: float) -> Array:
    """The probability of every claim by weights fitted without it, the mean of five foldings."""
    p = np.zeros(len(y))
    for turn in range(5):
        order = np.random.default_rng(turn).permutation(len(y))
        for fold in range(FOLDS):
            held = order[fold::FOLDS]
            rest = np.setdiff1d(order, held)
            w = logistic(z[rest], y[rest], ridge)
            p[held] += 1 / (1 + np.exp(-(z[held] @ w[:-1] + w[-1]))) / 5
    return p


def _print_claims(p: Array, y: Array) -> None:
    better = (p[y == 1][:, None] > p[y == 0]).mean()
    print(
        f"answered: {y.sum():.0f} of {len(y)} hold it; AUC {better:.3f}, "
        f"Brier {((p - y) ** 2).mean():.3f}"
    )
    for least in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9):
        claimed = p >= least
        if claimed.any():
            precision, share = y[claimed].mean(), y[claimed].sum() / y.sum()
            print(
                f"  p >= {least}: {claimed.sum()} claims, precision {precision:.2f}, "
                f"recall {share:.2f}"
            )


def _print_curve(z: Array, y: Array, ridge: float) -> None:
    """What more questions would bring: the claim fitted on so many of them, tried on others."""
    rng, held = np.random.default_rng(0), len(y) // 5
    for count in (30, 50, 80, 110, 140, len(y) - held):
        found = []
        for _ in range(200):
            order = rng.permutation(len(y))
            rest, tried = order[: min(count, len(y) - held)], order[-held:]
            w = logistic(z[rest], y[rest], ridge)
            p, right = 1 / (1 + np.exp(-(z[tried] @ w[:-1] + w[-1]))), y[tried]
            better = (p[right == 1][:, None] > p[right == 0]).mean()
            found.append((better, ((p - right) ** 2).mean(), _recall_at(p, right)))
        told = np.mean(found, axis=0)
        print(
            f"  fitted on {count}: AUC {told[0]:.3f}, Brier {told[1]:.3f}, "
            f"recall at precision .90 {told[2]:.2f}"
        )


def _recall_at(p: Array, right: Array, precision: float = 0.9) -> float:
    """The most of the right ones that can be claimed at a precision."""
    order = right[np.argsort(-p)]
    enough = order.cumsum() / np.arange(1, len(order) + 1) >= precision
    return float((order.cumsum() * enough).max() / right.sum())


def _fit_kinds() -> dict[str, dict[str, float]]:
    """A softmax over kinds by the cues of a question, of all wordings in dev."""
    asked = [
        (n, text, SAME_KIND.get(row["kind"], row["kind"]))
        for n, row in enumerate(questions("dev", False))
        for text in (row["question"], *row["paraphrases"])
        if SAME_KIND.get(row["kind"], row["kind"])
    ]
    found = [language("en").asked(text) for _, text, _ in asked]
    names = sorted({str(cue) for each in found for cue in each})
    x = np.array([[float(name in each) for name in names] + [1.0] for each in found])
    kinds = list(_KINDS)
    y = np.array([kinds.index(kind) for _, _, kind in asked])
    of = np.array([n for n, _, _ in asked])

    def fitted(rows: Array) -> Array:
        w = np.zeros((len(kinds), x.shape[1]))
        for _ in range(1500):
            raised = np.exp(x[rows] @ w.T)
            p = raised / raised.sum(1, keepdims=True)
            p[np.arange(len(rows)), y[rows]] -= 1
            w -= 0.5 * (p.T @ x[rows] / len(rows) + 0.002 * w)
        return w

    told = np.zeros((len(y), len(kinds)))
    for fold in range(FOLDS):
        held = np.flatnonzero(of % FOLDS == fold)  # a question with its paraphrases
        w = fitted(np.setdiff1d(np.arange(len(y)), held))
        raised = np.exp(x[held] @ w.T)
        told[held] = raised / raised.sum(1, keepdims=True)
    for sure in (0.5, 0.6, 0.7, 0.8):
        known = told.max(1) >= sure
        right = (told.argmax(1) == y)[known].mean()
        print(
            f"kinds: sure from {sure}: {known.mean():.2f} of the questions, "
            f"{right:.2f} of them right"
        )
    w = fitted(np.arange(len(y)))
    return {
        kind: {name: float(v) for name, v in zip([*names, "bias"], w[n], strict=True)}
        for n, kind in enumerate(kinds)
    }


def _write(
    candidate: dict[str, float], answered: dict[str, float], kinds: dict[str, dict[str, float]]
) -> None:
    known = weighing.weights()
    extents = {"fact": known.fact, "more": known.more}
    lines = [
        "# Written by benchmarks/answers_sweep.py, which says how; the figures stand in",
        "# benchmarks/README.md.",
        *(f"{name} = {getattr(known, name)!r}" for name in ("beside", "long", "same")),
        *(f"{name} = {{ room = {e.room}, within = {e.within} }}" for name, e in extents.items()),
    ]
    tables = {"candidate": candidate, "answered": answered}
    tables |= {f"kind.{kind}": own for kind, own in kinds.items()}
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {value:.4f}" for key, value in table.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{WEIGHTS.name} is written")


def main() -> None:
    """Collect or fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("step", choices=("collect", "fit"))
    parser.add_argument("--work", type=Path, default=Path("build/answers"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--ridge", type=float, default=20.0)
    parser.add_argument("--answered-ridge", type=float, default=10.0)
    parser.add_argument("--only", nargs="+", default=[], help="fit these signals beside the others")
    parser.add_argument("--claim", action="store_true", help="fit the signals of the claim alone")
    parser.add_argument("--eliminate", action="store_true", help="leave out what brings nothing")
    options = parser.parse_args()
    sys.setrecursionlimit(10_000)
    collect(options) if options.step == "collect" else fit(options)


if __name__ == "__main__":
    main()
