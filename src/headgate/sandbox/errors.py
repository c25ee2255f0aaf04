"""Errors of the sandbox.

Invalid
├── CodeRefused      the scan rejected it; nothing ran
├── CodeFailed       the code raised, crashed, or returned a value that is not JSON
└── CodeTimedOut     it exceeded its wall or processor time
TooLarge
└── CodeTooBig       code, arguments, result or scratch files exceed their limit
Forbidden
└── HostRefused      the manifest or the operator does not allow the host
Unavailable
├── SandboxUnavailable   this system lacks a layer of isolation
└── SandboxBusy          every worker stayed busy for too long
"""

from headgate.foundation.errors import Forbidden, Invalid, TooLarge, Unavailable


class CodeRefused(Invalid):
    """The scan rejected the code; nothing ran. `findings` lists all reasons, with lines."""

    code = "code_refused"
    title = "Code refused"


class CodeFailed(Invalid):
    """The code itself failed. Carries `exception`, `line` and `frames` (lines of the code, outermost first)."""

    code = "code_failed"
    title = "Code failed"


class CodeTimedOut(Invalid):
    """The code was stopped: too much wall time or processor time."""

    code = "code_timed_out"
    title = "Code took too long"


class CodeTooBig(TooLarge):
    """The code, its arguments, its result or its files exceed a limit."""

    code = "code_too_big"
    title = "Too large for the sandbox"


class HostRefused(Forbidden):
    """Custom code may not connect to this host."""

    code = "host_refused"
    title = "Host not allowed"


class SandboxUnavailable(Unavailable):
    """Foreign code cannot be isolated on this system, so it does not run."""

    code = "sandbox_unavailable"
    title = "Sandbox unavailable"


def not_ready(process: str, seconds: float, error: Exception, remedy: str) -> SandboxUnavailable:
    """Return the error of a process that ended before it was ready, or was not ready in time.

    Args:
        process: Which process, at the start of a sentence.
        seconds: How long it was waited for.
        error: What ended the wait.
        remedy: What to do when the process ended.
    """
    if isinstance(error, TimeoutError):
        late = f"{process} was not ready within {seconds:g} seconds: the server may be overloaded."
        return SandboxUnavailable(late, remedy="Try again when it has less to do, or run fewer steps at a time.")
    return SandboxUnavailable(f"{process} did not become ready.", remedy=remedy)


class SandboxBusy(Unavailable):
    """No worker became free in time."""

    code = "sandbox_busy"
    title = "Sandbox busy"
