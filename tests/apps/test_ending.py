"""How a command ends that cannot go on."""

from __future__ import annotations

import errno

import pytest

from spadework.apps.exit import one_sentence
from spadework.errors import SearchError, SettingsError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SettingsError("This is wrong."), 2, "spadework: This is wrong."),
        (SearchError("It is down.", hint="Ask again."), 1, "spadework: It is down. Ask again."),
        (
            OSError(errno.ENOSPC, "No space left", "/a/file"),
            1,
            "spadework: /a/file: No space left.",
        ),
        (
            PermissionError(errno.EACCES, "Not yours", "/a/file"),
            2,
            "spadework: /a/file: Not yours.",
        ),
        # Before a run begins; a run itself stops at it, and writes.
        (KeyboardInterrupt(), 130, "spadework: interrupted."),
    ],
)
def test_its_reason_is_one_sentence_with_an_exit_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, said: str
) -> None:
    with pytest.raises(SystemExit) as left, one_sentence():
        raise error
    assert left.value.code == code
    assert capsys.readouterr().err == f"{said}\n"


def test_what_cannot_be_written_is_no_wrong_argument(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left, one_sentence():
        "Łódź".encode("cp1252")
    assert left.value.code == 1
    assert (
        capsys.readouterr().err
        == r"spadework: '\u0141' cannot be written in the encoding charmap." + "\n"
    )
