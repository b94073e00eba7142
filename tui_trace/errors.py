"""The errors that a user can cause, each with one line and a hint."""

from __future__ import annotations


class TuiTraceError(Exception):
    """Something about the user's input is wrong.

    The command line prints `message` and `hint` to stderr and exits with 2.

    Attributes:
        message: One line that says what is wrong.
        hint: One line that says what to do about it, or an empty string.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class TraceNotFoundError(TuiTraceError, FileNotFoundError):
    """The path does not exist."""


class TraceAccessError(TuiTraceError, PermissionError):
    """The path exists and cannot be read."""


class NotATraceError(TuiTraceError, ValueError):
    """The file can be read and holds no trace."""


class UnknownReplayError(TuiTraceError, LookupError):
    """The trace has no replay of that number."""
