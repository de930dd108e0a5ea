"""How long a question takes without a model over the installed documentation: the first, which
builds the index, and later ones.

python benchmarks/asking.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time

QUESTIONS = (
    "What is LangGraph and how do I use it?",
    "How do I retry a failing HTTP request in Python?",
    "Compare httpx and requests",
    "What does pydantic do and when should I use it?",
)


def main() -> None:
    """Print a row a question: seconds, status, topics covered, quotes, cited sentences."""
    print(
        "| question | seconds | status | covered | quotes | cited sentences"
        " |\n|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as home:
        for n, question in enumerate(QUESTIONS):
            began = time.perf_counter()
            command = [
                sys.executable,
                "-m",
                "spadework",
                "ask",
                question,
                "--json",
                "--search",
                "library",
                "--home",
                home,
            ]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds = time.perf_counter() - began
            result = json.loads(done.stdout)
            covered = sum(topic["covered"] for topic in result["topics"])
            quotes = sum(len(topic["evidence"]) for topic in result["topics"])
            first = ", index built" if n == 0 else ""
            cited = len({citation["sentence"] for citation in result["citations"]})
            print(
                f"| {question}{first} | {seconds:.1f} | {result['status']} |"
                f" {covered}/{len(result['topics'])} | {quotes} | {cited} |"
            )


if __name__ == "__main__":
    main()
