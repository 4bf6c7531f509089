"""Messages about expressions, held word by word."""

from __future__ import annotations

import pytest

from adjoint.cli.errors import USAGE, CommandError
from adjoint.cli.expression import parse


def cases(messages: str) -> list[str]:
    """The messages of a text, which are apart by an empty line."""
    return messages.strip("\n").split("\n\n")


def expression_of(message: str) -> str:
    """The expression that a message is about is its second line."""
    return message.splitlines()[1].strip()


def check(message: str) -> None:
    """The expression is refused with the whole message."""
    with pytest.raises(CommandError) as caught:
        parse(message.splitlines()[1], ["x"])
    assert str(caught.value) == message
    assert caught.value.exit_code == USAGE
