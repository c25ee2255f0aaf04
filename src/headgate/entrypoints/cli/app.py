"""The root of the command line. A command's module is imported when that command is called: each starts fast."""

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from headgate.entrypoints.cli.chosen import SPACE, TENANT
from headgate.entrypoints.cli.exit_codes import INTERRUPTED, OK, code_for
from headgate.entrypoints.cli.printable import printable
from headgate.foundation.errors import HeadgateError

COMMANDS: dict[str, tuple[str, str]] = {
    "ask": ("ask", "Describe what you want: the assistant builds, edits or runs a flow."),
    "codev": (
        "codev",
        "The development agent: plans, builds and tests a flow, and asks for approval before it writes.",
    ),
    "serve": ("serve", "Start the server."),
    "up": ("up", "Start server, worker and scheduler together."),
    "restart": ("restart", "Replace the processes of `headgate up` one after another, without downtime."),
    "worker": ("worker", "Execute runs as a worker process."),
    "beat": ("beat", "Run the scheduler: periodic recovery, retention and deliveries."),
    "run": ("run", "Run a flow and follow its steps."),
    "chat": ("chat", "Talk to a published flow: send messages, list and show conversations."),
    "flows": ("flows", "List, show, publish, compare, restore and delete flows."),
    "tests": ("tests", "Tests of a flow: list, set and run them."),
    "deliveries": ("all_deliveries", "List deliveries of all runs, and send failed ones again."),
    "attention": ("attention", "What needs a human: failures, paused triggers, connections, approvals."),
    "views": ("views", "Saved views of the attention list and of runs."),
    "alerts": ("alerts", "Alert rules: what is watched, and who is notified; alerts and notices."),
    "processes": ("processes", "Servers and workers: what they work on; drain one before you stop it."),
    "queue": ("queue", "Runs that wait, why and at which place, and the limits in use."),
    "slo": ("slo", "Service level objectives of flows: targets, error budgets, burn rates."),
    "approvals": ("approvals", "Approvals that runs wait for: list, show, approve, reject."),
    "triggers": ("triggers", "Triggers: flows that start by themselves on a schedule, a call, an event."),
    "events": ("events", "Events that runs wait for: send, list, waiting steps."),
    "knowledge": ("knowledge", "Knowledge: bases, documents, search, verify citations."),
    "runs": ("runs", "List and inspect runs; resume, rerun, cancel; export evidence."),
    "evidence": ("evidence", "Verify evidence of a run offline; print the signing key."),
    "audit": ("audit", "Audit log: list, export and verify who changed what."),
    "maintenance": ("maintenance", "Retention and cleanup jobs."),
    "backup": ("backup", "Back up this installation: create, verify, list and prune backups."),
    "restore": ("restore", "Restore this installation from a backup."),
    "validate": ("validate", "Check a flow file without running it."),
    "import": ("transfer", "Create a flow from a file. Nothing is run."),
    "export": ("transfer", "Export a flow as spec text or JSON."),
    "templates": ("templates", "Ready-made flows to start from."),
    "components": ("components", "Search and describe components."),
    "packs": ("packs", "Packs: create, install, upgrade and remove signed offline extensions."),
    "models": ("models", "Providers, models and local models."),
    "connections": ("connections", "Connections of flows: add, describe, authorize, test and delete."),
    "mcp-servers": ("mcp_servers", "MCP servers that flows use: add, refresh, enable and disable."),
    "mcp": ("mcp", "Headgate as an MCP server over stdio."),
    "users": ("users", "Users: create the first administrator here."),
    "directory": ("directory", "Directory (SCIM) of the organisation: token, groups and their roles."),
    "spaces": ("spaces", "Spaces for flows, and the roles of their members."),
    "tenants": ("tenants", "Organisations that share this installation, isolated from each other."),
    "quotas": ("quotas", "Limits of the organisation, its spaces and visitors."),
    "keys": ("keys", "API keys: let programs act on behalf of a user."),
    "encryption": ("encryption", "Encryption of files and conversations at rest: turn it on and off, destroy keys."),
    "keyring": ("keyring", "Keys that encrypt secrets and sign evidence: list, rotate, retire."),
    "variables": ("variables", "Store keys and other variables, encrypted."),
    "workspace": ("workspace", "Workspace files that agents store for a user."),
    "doctor": ("doctor", "Check this installation and report problems."),
    "db": ("db", "Database schema."),
    "version": ("version", "Print the version."),
}

_ELSEWHERE = {
    "help": "-h",
    "init": "serve",
    "install": "packs install",
    "list": "flows list",
    "login": "users create",
    "logs": "runs list",
    "publish": "flows publish",
    "server": "serve",
    "show": "flows show",
    "start": "serve",
    "status": "doctor",
    "stop": "runs cancel",
}
"""What others call a command, and what it is called here."""
_COLLECT_AFTER = 50_000
"""New objects until the youngest are looked through; many commands import and build more while they run."""


class _LazyGroup(TyperGroup):
    """Lists every command by name; loads one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - Typer's own type is private
        """Every command, in the order of the table."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - Typer's own type is private
        """Find a command; for a name that there is not, suggest the ones that are near."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = [_ELSEWHERE[name]] if name in _ELSEWHERE else get_close_matches(name, COMMANDS)
            hint = " or ".join(f"'headgate {name}'" for name in near)
            ctx.fail(f"No such command '{name}'." + (f" Did you mean {hint}?" if hint else ""))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - Typer's own type is private
        """Load a command. For the list of commands, modules are loaded too: it is read by people, who can wait."""
        if cmd_name not in COMMANDS:
            return None
        module, summary = COMMANDS[cmd_name]
        loaded = import_module(f"headgate.entrypoints.cli.{module}")
        command: Any = typer.main.get_command(loaded.apps[cmd_name] if hasattr(loaded, "apps") else loaded.app)
        _collect_garbage()
        command.name = cmd_name
        command.help = command.help or summary
        return command


def _collect_garbage() -> None:
    """Collect again where `main` has paused it, and never look through what it imported: all of that stays."""
    if gc.isenabled():
        return
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    gc.enable()


root = typer.Typer(
    name="headgate",
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Headgate: describe what you want, inspect the flow, run it, keep the evidence.",
)


@root.callback()
def _root(
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant",
            help="Tenant to work in, by name or id. Default: HEADGATE_TENANT, or the first tenant.",
            metavar="NAME",
        ),
    ] = "",
    space: Annotated[str, typer.Option("--space", help="Space for new flows, by name or id.", metavar="NAME")] = "",
) -> None:
    """Headgate: describe what you want, inspect the flow, run it, keep the evidence."""
    TENANT.set(tenant.strip())
    SPACE.set(space.strip())


def run(arguments: Sequence[str]) -> int:
    """Run one command. Returns the exit code; see `exit_codes` for what each means."""
    try:
        result = root(args=list(arguments), prog_name="headgate", standalone_mode=False)
    except HeadgateError as error:
        _report(error, as_json="--json" in arguments)
        return code_for(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except Exception as error:  # noqa: BLE001 - raised again unless it is the command line's own
        return _usage_or_raise(error, as_json="--json" in arguments)
    if result == INTERRUPTED:  # what Typer makes of Ctrl+C
        return _stopped()
    return result if isinstance(result, int) else OK


def _stopped() -> int:
    print("Stopped.", file=sys.stderr)  # noqa: T201
    return INTERRUPTED


def _usage_or_raise(error: Exception, *, as_json: bool) -> int:
    """Typer's own errors show themselves, wrong settings and files are named; the rest is a bug and keeps its trace."""
    show = getattr(error, "show", None)
    if show is None:
        wrong = import_module("headgate.entrypoints.cli.faults").fault_of(error)
        if wrong is None:
            raise error
        _report(wrong, as_json=as_json)
        return code_for(wrong)
    if isinstance(message := getattr(error, "message", None), str):
        error.message = message.replace("Value error, ", "")  # type: ignore[attr-defined]
    show()
    return int(getattr(error, "exit_code", 2))


def _report(error: HeadgateError, *, as_json: bool) -> None:
    if as_json:
        module = import_module("orjson")
        with suppress(OSError):  # a failing standard output is reported on the other one
            print(module.dumps(error.problem()).decode(), flush=True)  # noqa: T201
            return
    print(f"Error: {printable(error.detail)}", file=sys.stderr)  # noqa: T201
    issues = error.extra.get("issues")
    if isinstance(issues, list) and len(issues) > 1:
        for issue in issues[1:]:
            if isinstance(issue, dict):
                print(f"       {printable(str(issue.get('message', '')))}", file=sys.stderr)  # noqa: T201
    if error.remedy:
        print(f"       {printable(error.remedy)}", file=sys.stderr)  # noqa: T201
