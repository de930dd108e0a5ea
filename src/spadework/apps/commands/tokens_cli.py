"""`spadework tokens …`: users of a server; heavy imports are deferred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from spadework.apps.options import Home
from spadework.home import home_of

if TYPE_CHECKING:
    from pathlib import Path

    from spadework.sessions.people.tokens import Tokens


tokens = typer.Typer(
    help="Give users of a server their tokens, or take them back.",
    rich_markup_mode=None,
    invoke_without_command=True,
)


@tokens.callback()
def tokens_default(context: typer.Context, home: Home = None) -> None:
    """List tokens when no other command is given."""
    if context.invoked_subcommand is None:
        list_tokens(home)


@tokens.command("list")
def list_tokens(home: Home = None) -> None:
    """List tokens: id, date, scopes, user."""
    from spadework.apps.messages import say

    listed = _tokens(home).listed()
    for one in listed:
        say(f"{one.id}  {one.made_at:%Y-%m-%d}  {','.join(one.scopes):<14}  {one.user}")
    if not listed:
        say("There are no tokens.", err=True)


@tokens.command("add")
def add(
    name: Annotated[str, typer.Argument(help="The user it is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope", help="read, ask or admin; may be given more than once. Unset: read and ask."
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Create a token and print it. Only its hash is stored: it cannot be shown again."""
    from spadework.apps.messages import say
    from spadework.sessions.people.tokens import USUAL

    say(_tokens(home).add(name, scope or USUAL))
    say(
        "Send it as `Authorization: Bearer TOKEN`, or open the page once with ?token=TOKEN.",
        err=True,
    )


@tokens.command("revoke")
def revoke(
    which: Annotated[str, typer.Argument(help="The id of a token, or a user: all of theirs.")],
    home: Home = None,
) -> None:
    """Revoke a token at once, also on a running server."""
    from spadework.apps.messages import say

    for one in _tokens(home).revoke(which):
        say(f"Revoked {one.id} of {one.user}.", err=True)


def _tokens(home: Path | None) -> Tokens:
    from spadework.apps.machines import database_of
    from spadework.sessions.people.tokens import Tokens

    return Tokens(home_of(home), database_of(home))
