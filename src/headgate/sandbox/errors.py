"""What can go wrong when foreign code runs.

Invalid
├── CodeRefused      the scan found something before anything ran
├── CodeFailed       the code raised, crashed, or returned what JSON cannot hold
└── CodeTimedOut     it used more wall or processor time than it may
TooLarge
└── CodeTooBig       code, arguments, result or scratch files are over their limit
Forbidden
└── HostRefused      it wants to connect to a host that its manifest or the operator does not name
Unavailable
├── SandboxUnavailable   this system lacks a layer of isolation
└── SandboxBusy          every worker stayed busy for too long
"""

from headgate.foundation.errors import Forbidden, Invalid, TooLarge, Unavailable


class CodeRefused(Invalid):
    """The scan found something the sandbox would refuse; nothing ran. `findings` lists all, with lines."""

    code = "code_refused"
    title = "Code refused"


class CodeFailed(Invalid):
    """The code itself failed. Carries `exception`, `line` and `frames` (the user's own lines, outermost first)."""

    code = "code_failed"
    title = "Code failed"


class CodeTimedOut(Invalid):
    """The code was stopped: too much wall time or processor time."""

    code = "code_timed_out"
    title = "Code took too long"


class CodeTooBig(TooLarge):
    """The code, its arguments, its result or its files are over a limit."""

    code = "code_too_big"
    title = "Too large for the sandbox"


class HostRefused(Forbidden):
    """Own code may not connect to this host."""

    code = "host_refused"
    title = "Host not allowed"


class SandboxUnavailable(Unavailable):
    """Foreign code cannot be isolated on this system, so it does not run."""

    code = "sandbox_unavailable"
    title = "Sandbox unavailable"


class SandboxBusy(Unavailable):
    """No worker became free in time."""

    code = "sandbox_busy"
    title = "Sandbox busy"
