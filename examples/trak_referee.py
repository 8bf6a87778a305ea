"""Which claims of TRAK hold? Its scores of the embedded digits, held against models that they have not seen.

    python examples/trak_referee.py            # the scores of traker 0.3.2 in examples/referee/trak_digits.npy
    python examples/trak_referee.py --traker   # makes them anew, where traker is installed (examples/referee/README.md)
    python examples/trak_referee.py FILE       # yours: a .npy of 400 training images × 120 targets

A score file claims, for each target, which training images help it and which hurt it. 8,000 of the embedded models fit
datamodels, which take noise out; 4,000 others decide: each claim is confirmed, reversed or unproven, at a false
discovery rate of 0.1 for each method. Refereed beside the file are random numbers, to see what no method at all gets,
and the datamodels' own weights. Printed are the verdicts, who is right where two methods disagree, and the claim of the
file that the models contradict most surely.

TRAK's ten checkpoints were trained on masks that none of these models has; scores made of the tested models themselves
would have seen the noise that they are tested on, and no file shows that. This is no verdict on TRAK: it is not tuned
here, and the LASSO was fitted on 8,000 models of just the kind that is tested.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from datamodels_inf import PackedMasks, Refereed, fit_lasso, referee

SCORES = Path(__file__).resolve().parent / "referee" / "trak_digits.npy"
FIT_ROWS = 8_000
N_TARGETS = 24
"""So many of the 120 targets are asked, to be done in seconds; `datamodels-inf referee` asks all of them."""


def embedded_digits() -> tuple[PackedMasks, NDArray[np.float64]]:
    """(masks of 12,000 models on 400 images, margins of the models on the first targets)."""
    folder = Path(str(files("pipeline"))) / "embedded" / "digits"
    return PackedMasks(np.load(folder / "masks.npy"), 400), np.load(folder / "margins.npy")[:, :N_TARGETS].astype(float)


def made_by_traker() -> NDArray[np.float32]:
    """TRAK of ten checkpoints, as examples/referee/make_scores.py makes it."""
    sys.path.append(str(SCORES.parent))
    import make_scores

    digits = make_scores.Digits.load()
    with tempfile.TemporaryDirectory() as folder:
        return np.load(make_scores.trak_scores(digits, make_scores.checkpoints(digits, 10), Path(folder) / "trak"))


def contradicted(result: Refereed, method: str) -> str:
    """The claim of a method that the models contradict most surely, in words."""
    column = result.methods.index(method)
    places = np.flatnonzero(result.rulings[column].verdict == -1)
    if not len(places):
        return f"the models contradict no claim of {method}"
    place = places[np.argmin(result.pvalue[places])]
    sign = int(result.claim[place, column])
    helper, hurter = result.pairs[place][::sign]
    low, effect, high = sorted(sign * getattr(result, name)[place] for name in ("low", "effect", "high"))
    interval = f"95 % interval {low:.2f} to {high:.2f}"
    return (
        f"{method} claims that image {helper} helps target {result.target[place]} more than image {hurter} does.\n"
        f"Training on {helper} instead of {hurter} changes its margin by {effect:.2f}, {interval}."
    )


def main() -> None:
    """Three methods before the referee."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", metavar="FILE", nargs="?", type=Path, default=SCORES)
    parser.add_argument("--traker", action="store_true", help="make the scores anew")
    options = parser.parse_args()
    masks, margins = embedded_digits()
    datamodel = fit_lasso(masks.rows(0, FIT_ROWS), margins[:FIT_ROWS])
    scores = made_by_traker() if options.traker else np.load(options.scores)
    methods = {
        "TRAK" if options.traker or options.scores == SCORES else options.scores.stem: scores[:, :N_TARGETS],
        "random": np.random.default_rng(0).standard_normal((400, N_TARGETS)),
        "LASSO": datamodel.weight,
    }
    held_out = masks.rows(FIT_ROWS, masks.n_models), margins[FIT_ROWS:]
    result = referee(*held_out, methods, theta=datamodel.weight, bias=datamodel.bias, alpha=0.1)
    print(f"{N_TARGETS} targets, {len(margins) - FIT_ROWS:,} models that no score has seen")
    print("method     claims  confirmed  unproven  reversed")
    for name, counts in result.counts().items():
        verdicts = [counts[verdict] for verdict in ("confirmed", "unproven", "reversed")]
        print(f"{name:<10} {sum(counts.values()):6d} {verdicts[0]:10d} {verdicts[1]:9d} {verdicts[2]:9d}")
    name = result.methods[0]
    for other in result.methods[1:]:
        right, wrong = result.decided(name, other)
        print(f"where {name} and {other} disagree, the models say {name} on {right} pairs and {other} on {wrong}")
    print(contradicted(result, name))


if __name__ == "__main__":
    main()
