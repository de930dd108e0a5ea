"""Read package descriptions from the npm registry."""

from __future__ import annotations

from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.formats import Format
from spadework.tools.extract.formats.described import answer_of, package, part, read_readme, words


def extract_package(body: bytes, url: str) -> Extracted:
    """Return an npm package's facts and README. The response may describe one version or all.
    Raises Unreadable if the package has no name, or neither a description nor a README.
    """
    answer = answer_of(body, "package")
    latest = words(part(answer, "dist-tags"), "latest")
    version = latest or words(answer, "version")
    one = part(part(answer, "versions"), version) or answer
    facts = {
        "Latest version" if latest else "Version": version,
        "License": words(one, "license"),
        "Install": f"npm install {words(answer, 'name')}" if words(answer, "name") else "",
        "Homepage": words(one, "homepage"),
        "Repository": words(part(one, "repository"), "url"),
        "Dependencies": ", ".join(part(one, "dependencies")),
    }
    return package(
        words(answer, "name"),
        words(one, "description"),
        facts,
        read_readme(answer.get("readme"), "text/markdown", url),
        author=words(one, "author"),
        day=words(part(answer, "time"), version),
    )


FORMAT = Format("npm", extract_package, media_types=("application/vnd.npm.package+json",))
