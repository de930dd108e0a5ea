"""A mistyped command is asked about and never researched; words that are no command are a
question.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.apps.cli import with_default_command
from spadework.errors import SettingsError
from tests.apps.process import Terminal


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["docter"], "doctor"),
        (["Docter", "--home", "x"], "doctor"),
        (["serch", "the harbour"], "search"),
        (["reed", "https://example.org/"], "read"),
        (["indx", "notes/"], "index"),
        (["sesions", "list"], "sessions"),
        (["resum", "20260304-101112-a1b2c3"], "resume"),
        (["research", "What is a lighthouse?"], "ask"),
        (["help"], "--help"),
    ],
)
def test_a_mistyped_command_is_asked_about(words: list[str], meant: str) -> None:
    with pytest.raises(SettingsError) as caught:
        with_default_command(words)
    assert str(caught.value) == f"There is no command {words[0]!r}. Did you mean {meant}?"
    assert caught.value.hint.startswith("To research it as a question, run: spadework ask ")


@pytest.mark.parametrize(
    "words",
    [
        ["What is a lighthouse?"],
        ["what", "is", "a", "lighthouse"],
        ["stat", "analysis", "of", "harbours"],
        ["Terraform", "--minutes", "1"],
        ["docter?"],
        ["--minutes", "1", "What is a lighthouse?"],
    ],
)
def test_other_words_are_a_question(words: list[str]) -> None:
    assert with_default_command(words) == ["ask", *words]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--minuets", "3", "hello you"], "ask has no option --minuets. Did you mean --minutes?"),
        (["hello", "you", "--minutes"], "--minutes needs a value."),
        (["hello", "you", "--json=1"], "Option '--json' does not take a value."),
        (["hello you", "--minutes", "x"], "minutes must be a valid number, not 'x'."),
        (
            ["hello you", "--effort", "fast"],
            "effort must be 'quick', 'normal' or 'deep', not 'fast'.",
        ),
        (["sessions", "lst"], "sessions has no command 'lst'. Did you mean 'list'?"),
        (
            ["sessions", "show"],
            "sessions show needs the argument SESSION_ID. For its options, run: spadework"
            " sessions show --help",
        ),
        (["delete", "port"], "The command delete needs a session id, but 'port' is not one."),
        (["show", "20260304-101112"], "There is no session '20260304-101112'."),
        (["hello you", "--model", "openai:x"], "openai:x needs an API key. Set OPENAI_API_KEY, or"),
    ],
)
def test_a_wrong_option_is_one_sentence(tmp_path: Path, words: list[str], said: str) -> None:
    terminal = Terminal({}, tmp_path)
    code, out, err = terminal.run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"spadework: {said}")
    assert err.count("\n") == 1
    assert not (tmp_path / "home").exists()


ID = "20260304-101112-a1b2c3"


@pytest.mark.parametrize(
    "words",
    [
        ["show", ID],
        ["delete", ID],
        ["export", ID, "-o", "x.zip"],
        ["open", "x.zip", "--home", "h"],
        ["show", "--help"],
        ["show", ID[:17]],
        ["show"],
        ["list", "--home", "h"],
        ["export", "-o", "x.zip", "port"],
    ],
)
def test_a_subcommand_of_sessions_before_an_id_or_a_file_needs_no_sessions(
    words: list[str],
) -> None:
    assert with_default_command(words) == ["sessions", *words]


@pytest.mark.parametrize("like", [ID, ID.upper(), ID[:17], ID[:15]])
def test_an_id_alone_is_no_question(like: str) -> None:
    with pytest.raises(SettingsError, match=f"{like} is the id of a session, not a question") as no:
        with_default_command([like])
    assert no.value.hint.endswith(f"spadework sessions show {like}")


@pytest.mark.parametrize("words", [["show", "port"], ["export", "port", "-o", "x.zip"]])
def test_a_word_that_is_no_id_after_a_subcommand_of_sessions_is_not_researched(
    words: list[str],
) -> None:
    with pytest.raises(SettingsError) as caught:
        with_default_command(words)
    said = f"The command {words[0]} needs a session id, but 'port' is not one."
    assert str(caught.value) == said
    assert caught.value.hint.endswith(f'spadework ask "{words[0]} port"')


@pytest.mark.parametrize(
    "words",
    [["export", "of", "grain", "from", "Ukraine"], ["open", "a", ".zip"], ["show", "me", "x.zip"]],
)
def test_export_of_a_report_in_words_is_a_question(words: list[str]) -> None:
    assert with_default_command(words) == ["ask", *words]


def test_a_word_alone_is_said_how_to_be_asked() -> None:
    with pytest.raises(SettingsError, match="There is no command 'terraform'\\.") as no:
        with_default_command(["terraform"])
    assert no.value.hint.endswith('run: spadework ask "terraform"')


@pytest.mark.parametrize("words", [[], ["doctor"], ["sessions", "list"], ["--version"], ["-h"]])
def test_commands_stay_as_they_are(words: list[str]) -> None:
    assert with_default_command(words) == words


def test_the_command_says_it_in_one_line_and_runs_nothing(tmp_path: Path) -> None:
    code, out, err = Terminal({}, tmp_path).run("docter")
    assert (code, out) == (2, "")
    assert err == (
        "spadework: There is no command 'docter'. Did you mean doctor? To research it as a"
        ' question, run: spadework ask "docter"\n'
    )
    assert not (tmp_path / "home").exists()


def test_bare_words_are_researched_as_one_question(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Quillon\n\nQuillon is a wind-up radio of 2019.\n")
    options = ("--search", "library", "--library", "notes.md", "--iterations", "1")
    code, out, err = Terminal({}, tmp_path).run("what", "is", *options, "quillon")
    assert code == 0, err
    assert out.startswith("# what is quillon\n")


def test_help_has_examples_and_the_version_is_told(tmp_path: Path) -> None:
    terminal = Terminal({}, tmp_path)
    for word in ("--help", "-h"):
        code, out, _ = terminal.run(word)
        assert code == 0
        assert "Examples:" in out
        assert '  spadework "What is Terraform and how do I use it?"\n' in out
        assert "--version" in out
        cut = [line for line in out.splitlines() if line.startswith("  ") and line.endswith("...")]
        assert cut == [], "what a command does is said whole"
    code, out, _ = terminal.run("--version")
    assert code == 0
    assert out.strip()[0].isdigit()
