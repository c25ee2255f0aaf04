"""What `headgate doctor` finds, and its check of backups."""

import asyncio
from dataclasses import dataclass

from headgate.entrypoints.cli.output import when
from headgate.entrypoints.cli.session import with_installation
from headgate.entrypoints.installation import Installation
from headgate.features.maintenance.backups import BackupState, backup_state
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import HEAD, current
from headgate.foundation.errors import HeadgateError
from headgate.foundation.settings import Settings
from headgate.sandbox.guest import program


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked."""

    what: str
    good: bool
    detail: str
    remedy: str = ""
    needed: bool = True
    """Whether Headgate cannot work without it."""


def programs_finding(settings: Settings) -> list[Finding]:
    """Whether programs of MCP can be isolated, where they are allowed."""
    if not settings.mcp.allow_stdio:
        return []
    try:
        walls = program.walls_here(hosts=False, insecure=settings.sandbox.insecure)
    except program.RefusedError as error:
        return [Finding("MCP programs", good=False, detail=f"{error}", needed=False)]
    if not walls.isolated:
        return [Finding("MCP programs", good=False, detail="run as the server does: a wall is missing", needed=False)]
    detail = "run isolated" if walls.namespaces else "run isolated, without namespaces: those with hosts are refused"
    return [Finding("MCP programs", good=True, detail=detail)]


def backup_finding(settings: Settings) -> list[Finding]:
    """Whether the last backup is recent, where backups are scheduled."""

    async def work(installation: Installation) -> BackupState:
        async with installation.database.reading() as session:
            return await backup_state(session, settings)

    if settings.backup.every_hours is None or not asyncio.run(is_migrated(settings)):
        return []
    state = with_installation(work, settings)
    made = "none was made yet" if state.last_at is None else f"the last one was made {when(state.last_at)}"
    detail = f"{made}; every {state.every_hours:g} hours"
    remedy = "headgate backup create; headgate maintenance status shows why the job failed"
    return [Finding("backup", good=not state.overdue, detail=detail, remedy=remedy, needed=False)]


async def is_migrated(settings: Settings) -> bool:
    """Whether the database can be read and is of this version."""
    database = Database(settings)
    try:
        return await current(database) == HEAD
    except HeadgateError:
        return False  # reported by the check of the database
    finally:
        await database.close()
