"""`python -m tests.hostile SEED [--json] [--stretch 1]`: let the attack of a seed happen, and say
what was wrong; exit code 1 where something was, 77 where it cannot happen here.
"""

from __future__ import annotations

import argparse
import json
import sys

from tests.hostile.attack import attack
from tests.hostile.happening import Happened, happened
from tests.hostile.place import NotAllowed

IMPOSSIBLE = 77


def main() -> int:
    """Parse, let it happen, say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")
    parser.add_argument(
        "--stretch", type=float, default=1.0, help="how much longer its deadline is"
    )
    asked = parser.parse_args()
    try:
        run = happened(attack(asked.seed, asked.stretch))
    except NotAllowed as error:
        sys.stdout.write(f"{error}\n")
        return IMPOSSIBLE
    sys.stdout.write(f"{json.dumps(run.told()) if asked.json else _in_words(run)}\n")
    return bool(run.wrong)


def _in_words(run: Happened) -> str:
    said = [
        f"Seed {run.attack.seed}: {run.attack}",
        f"Exit code {run.ran.code} after {run.ran.took:.1f} of {run.attack.seconds:.1f} s.",
        *(f"  {service}: {dict(did)}" for service, did in run.ran.did.items()),
        *(f"WRONG: {each}" for each in run.wrong),
    ]
    words = [f"--- out\n{run.ran.out[-4000:]}", f"--- err\n{run.ran.err[-6000:]}"]
    return "\n".join(said + words * bool(run.wrong))


if __name__ == "__main__":
    sys.exit(main())
