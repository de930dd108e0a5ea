"""Only the files that docs/safety.md names open connections."""

from __future__ import annotations

import re

from tests.docs.test_references import ROOT, SOURCE, links

#: What opens a connection, or starts what does.
OPENS = re.compile(
    r"\b(?:httpx\.(?:(?:Async)?Client|get|post|stream|request)|urlopen|open_connection|anyio\.connect_tcp|start_server|AsyncQdrantClient|DDGS"
    r"|AnyIOBackend|DefaultAsyncHttpxClient|OTLP\w+Exporter|launch|stdio_client|uvicorn\.Config|socket\.socket"
    r"|(?:Async)?Connection\.connect|AsyncConnectionPool|PsycopgConnector)\("
)


def test_only_the_files_that_are_named_open_connections() -> None:
    opening = {file for file in SOURCE.rglob("*.py") if OPENS.search(file.read_text())}
    page = ROOT / "docs" / "safety.md"
    section = page.read_text().partition("## Who may open")[2].partition("\n## ")[0]
    named = {link.path for link in links(page) if f"{link.path.name})" in section}
    assert named == opening | {file for file in named if file.suffix != ".py"}
