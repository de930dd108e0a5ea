"""Read package descriptions from PyPI's JSON API."""

from __future__ import annotations

from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import Format
from spadework.tools.extract.formats.described import answer_of, package, part, read_readme, words


def extract_project(body: bytes, url: str) -> Extracted:
    """Return a package's facts and description. Raises Unreadable if it has no name or no text."""
    answer = answer_of(body, "package")
    info = part(answer, "info")
    files = answer.get("urls")
    first = files[0] if isinstance(files, list) and files and isinstance(files[0], dict) else {}
    text = info.get("description")
    version = words(info, "version")
    facts = {
        "Version" if f"/{version}" in url else "Latest version": version,
        "Python": words(info, "requires_python"),
        "License": words(info, "license_expression") or words(info, "license")[:100],
        "Install": f"pip install {words(info, 'name')}" if words(info, "name") else "",
        **{name: words(part(info, "project_urls"), name) for name in part(info, "project_urls")},
    }
    return package(
        words(info, "name"),
        words(info, "summary"),
        facts,
        read_readme(text, words(info, "description_content_type"), url),
        author=words(info, "author") or words(info, "author_email").partition(" <")[0],
        day=words(first, "upload_time_iso_8601"),
    )


FORMAT = Format("pypi", extract_project, media_types=("application/vnd.pypi.project+json",))
