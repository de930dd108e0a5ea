"""Reads Word files with our walker and with python-docx: `python benchmarks/office.py`.

One file is made as a long report has it (headings, paragraphs, a table every fifty paragraphs), one
to break its reader: few bytes that unpack to very many elements. Each is read in a process of its
own; CPU seconds and the most memory beyond that of its imports are printed.
"""

from __future__ import annotations

import io
import multiprocessing
import re
import time
import zipfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import docx

from spadework.errors import FetchError
from spadework.tools.extract import read_document

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PARAGRAPHS, ROWS, BOMB = 5_000, 20, 3_000_000


def report() -> bytes:
    """A long report."""
    made, out = docx.Document(), io.BytesIO()
    for n in range(PARAGRAPHS):
        if n % 50 == 0:
            made.add_heading(f"Section {n}", 1)
            table = made.add_table(ROWS, 4)
            for row in table.rows:
                for cell in row.cells:
                    cell.text = f"{n}"
        made.add_paragraph(f"Paragraph {n} says that the harbour received {n} ships in the year.")
    made.save(out)
    return out.getvalue()


def bomb() -> bytes:
    """A file of empty runs."""
    out, source = io.BytesIO(), io.BytesIO()
    docx.Document().save(source)
    with zipfile.ZipFile(source) as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in made.namelist():
            data = made.read(name)
            if name == "word/document.xml":
                data = data.replace(b"<w:sectPr", b"<w:p>" + b"<w:r/>" * BOMB + b"</w:p><w:sectPr")
            packed.writestr(name, data)
    return out.getvalue()


def ours(body: bytes) -> int:
    """The characters of its Markdown."""
    return len(read_document(body, media_type=WORD, url="https://example.org/a.docx").markdown)


def theirs(body: bytes) -> int:
    """The characters of its paragraphs and cells, in no order and without Markdown."""
    read = docx.Document(io.BytesIO(body))
    cells = [cell.text for table in read.tables for row in table.rows for cell in row.cells]
    return sum(map(len, [*(p.text for p in read.paragraphs), *cells]))


def _measured(read: Callable[[bytes], int], body: bytes, answer: Connection) -> None:
    before, began = _peak(), time.process_time()
    try:
        said = f"{read(body)} characters"
    except FetchError as error:
        said = f"refused: {error}"
    seconds = time.process_time() - began
    answer.send(f"{seconds:.2f} CPU s, {(_peak() - before) / 1000:.0f} MB, {said}")


def _peak() -> int:
    """The most memory of this process so far, in kB (Linux)."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) if found else 0


def main() -> None:
    """Read both files with both readers."""
    processes = multiprocessing.get_context("spawn")
    for name, body in (("report", report()), ("bomb", bomb())):
        for reader in (ours, theirs):
            mine, its = processes.Pipe()
            process = processes.Process(target=_measured, args=(reader, body, its))
            process.start()
            print(f"{name}, {len(body) / 1000:.0f} kB, {reader.__name__}: {mine.recv()}")
            process.join()


if __name__ == "__main__":
    main()
