"""Exit codes of a command: 0 done; after an error message 1 failed, 2 usage, 130 interrupted."""

from __future__ import annotations

import errno
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from spadework.apps.messages import say
from spadework.errors import BudgetSpent, SessionNotFound, SettingsError, SpadeworkError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
#: System errors that no other argument would avoid: a full disk, a broken device.
_NOT_THE_USERS = (errno.ENOSPC, errno.EIO)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn our errors and the system's into one sentence on stderr and an exit code."""
    try:
        yield
    except SpadeworkError as error:
        say(describe_error(error), err=True)
        wrong = isinstance(error, SettingsError | SessionNotFound)
        raise SystemExit(USAGE if wrong else FAILED) from None
    except BudgetSpent as error:
        say(f"spadework: {error}", err=True)
        raise SystemExit(FAILED) from None
    except (OSError, UnicodeError) as error:
        if isinstance(error, BrokenPipeError):
            # The reader of our output is gone, as with `| head`.
            sys.stderr.close()
            raise SystemExit(FAILED) from None
        say(f"spadework: {_describe_system_error(error)}"[:400], err=True)
        raise SystemExit(FAILED if _is_not_the_users(error) else USAGE) from None
    except KeyboardInterrupt:
        _tell_interrupted()
        raise SystemExit(INTERRUPTED) from None
    except SystemExit as error:
        # Typer turns it into an exit code without a message.
        if _is_interrupt(error):
            _tell_interrupted()
        raise


def _tell_interrupted() -> None:
    """Report the interruption, even if Ctrl-C is pressed twice quickly."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    say("spadework: interrupted.", err=True)
    signal.signal(signal.SIGINT, before)


def _is_interrupt(error: BaseException) -> bool:
    """Return whether an error was caused by Ctrl-C and not yet reported as such."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt):
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return seen is not None


def describe_error(error: SpadeworkError) -> str:
    """Return an error as one sentence with its hint."""
    return f"spadework: {error} {error.hint}".strip()[:400]


def _is_not_the_users(error: OSError | UnicodeError) -> bool:
    """Return whether no other argument would avoid the error."""
    return isinstance(error, UnicodeEncodeError) or getattr(error, "errno", None) in _NOT_THE_USERS


def _describe_system_error(error: OSError | UnicodeError) -> str:
    if isinstance(error, OSError):
        name = str(error.filename)[-100:] if error.filename else "a file"
        return f"{name}: {error.strerror or error}."
    if isinstance(error, UnicodeEncodeError):
        lost = error.object[error.start : error.end][:20]
        return f"{lost!a} cannot be written as {error.encoding}."
    return "An argument or a file is no valid text."
