"""Durable job of a key rotation: distribute, activate, drain, re-encrypt. It can be killed at any point.

A new key becomes current when every live process has reported that it can read it. Once every process reports that it
writes with it, values of older keys are re-encrypted, in batches. Progress is derived from the ciphertexts themselves,
which name their key: a killed job continues with the remaining ones.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, update

from headgate.features.access.principal import DEFAULT_TENANT_ID, system_principal
from headgate.features.audit.recorder import record
from headgate.features.jobs.errors import LeaseLost
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.keyring import repository
from headgate.features.keyring.current import read_current
from headgate.features.keyring.states import GONE, READABLE, KeyState
from headgate.features.keyring.tables import installation_keys
from headgate.foundation.ciphertexts import key_id_of
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, encrypted_columns
from headgate.foundation.errors import Unavailable
from headgate.foundation.keyring import KeyRing, Purpose
from headgate.foundation.log import get_logger

KIND = "key_rotation"
BATCH = 100
"""Values re-encrypted in one transaction."""
LIVE_LEASES = 4
"""Leases after which an unseen process counts as ended."""
AGAIN_SECONDS = 1.0
"""Interval of checks whether every process is ready."""
UNREADABLE_SECONDS = 600.0
"""Interval of retries for values that no key on this machine can read."""
_FORGET_LEASES = 100
log = get_logger(__name__)


class Rotation:
    """Rotations of one installation, as seen by this process.

    Args:
        database: Rows of keys, and all encrypted values.
        ring: The keys that this process can read.
        secret_box: Decrypts and encrypts with them.
        runner: Runs the jobs; its upkeep reports the readable keys.
    """

    def __init__(self, database: Database, ring: KeyRing, secret_box: SecretBox, runner: JobRunner) -> None:
        self._database = database
        self._ring = ring
        self._box = secret_box
        self._runner = runner
        running = installation_keys.c.state.in_([KeyState.PREPARED, KeyState.CURRENT])
        self._queue = Queue(installation_keys, only=running)
        self._reported: tuple[tuple[str, ...], dict[Purpose, str]] | None = None
        self._reported_at = 0
        runner.register(JobKind(KIND, self._queue, self._run, 1, retry_seconds=AGAIN_SECONDS, upkeep=self.refresh))

    async def refresh(self) -> None:
        """Update the current keys, report the readable keys, delete files of retired keys.

        There is nothing to report before the first rotation: until then every process has only the first key.
        """
        async with self._database.reading() as session:
            rows = await repository.list_ring_keys(session)
            current = await read_current(session)
        self._ring.use(current)
        for row in rows:
            if row.state in GONE and self._ring.has(Purpose(row.purpose), row.id):
                self._ring.destroy(Purpose(row.purpose), row.id)
        readable = [row.id for row in rows if row.state in READABLE and self._ring.has(Purpose(row.purpose), row.id)]
        await self._report((tuple(readable), current))

    async def _report(self, state: tuple[tuple[str, ...], dict[Purpose, str]]) -> None:
        """Report the readable keys and those used for writing: on changes, and once per lease."""
        if state == self._reported and self._reported_at > self._since(1):
            return
        at = clock()
        async with self._database.writing() as session:
            await repository.save_reader(
                session, self._runner.leases.worker.id, at=at, key_ids=state[0], writes_with=state[1]
            )
            await repository.forget_readers(session, before=self._since(_FORGET_LEASES))
        self._reported, self._reported_at = state, at

    async def finish(self, key_id: str, wait_seconds: float = 0.0) -> None:
        """Run a rotation in this process: for a command, with or without a running server.

        Returns when it is finished, when a key is missing, or when other processes were not ready in time.
        """
        until = clock() + int(wait_seconds * MICROSECONDS)
        while True:
            self._runner.enqueue(KIND, key_id)
            await self._runner.settle(KIND)
            async with self._database.reading() as session:
                row = next(row for row in await repository.list_ring_keys(session) if row.id == key_id)
            has_ended = row.due_at is None and row.worker_id is None
            if has_ended or (row.progress or {}).get("unreadable") or clock() >= until:
                return
            await asyncio.sleep(AGAIN_SECONDS / 4)

    async def _run(self, job: Job) -> None:
        purpose, state = Purpose(job.row.purpose), KeyState(job.row.state)
        await self.refresh()
        if state is KeyState.PREPARED:
            missing = await self._not_ready(lambda reader: job.id in reader.key_ids)
            if missing:
                await self._again(job, {"waiting_for": missing})
                return
            await self._activate(job, purpose)
        behind = await self._not_ready(lambda reader: reader.writes_with.get(purpose) == job.id)
        unreadable = await self._encrypt_again(job) if purpose is Purpose.SECRETS else {}
        if behind:
            await self._again(job, {"waiting_for": behind})
        elif unreadable:
            log.warning("values not re-encrypted", keys=sorted(unreadable))
            await self._again(job, {"unreadable": unreadable}, UNREADABLE_SECONDS)
        else:
            async with self._database.writing() as session:
                await self._queue.finish(session, job, progress={})

    async def _again(self, job: Job, progress: dict[str, Any], seconds: float = AGAIN_SECONDS) -> None:
        async with self._database.writing() as session:
            due_at = clock() + int(seconds * MICROSECONDS)
            await self._queue.release(session, job, due_at=due_at, progress=progress)

    async def _not_ready(self, ready: Any) -> list[str]:  # noqa: ANN401 - of a reader's row
        """Return live processes that are not ready."""
        async with self._database.reading() as session:
            readers = await repository.live_readers(session, since=self._since(LIVE_LEASES))
        is_gone = self._runner.leases.worker.is_gone
        return [reader.process_id for reader in readers if not ready(reader) and not is_gone(reader.process_id)]

    async def _activate(self, job: Job, purpose: Purpose) -> None:
        """Make the key the current one."""
        now = clock()
        async with self._database.writing() as session:
            await repository.demote_current(session, purpose, at=now)
            change = update(installation_keys).where(self._queue.held(job))
            changed = await session.execute(
                change.values(state=KeyState.CURRENT, activated_at=now, progress=None).returning(installation_keys.c.id)
            )
            if changed.one_or_none() is None:
                raise LeaseLost(f"Another worker has claimed the rotation to key {job.id}.")
            await record(
                session,
                system_principal(DEFAULT_TENANT_ID),
                "installation_key.activated",
                id=job.id,
                name=purpose.value,
            )
        log.info("key activated", key_id=job.id, purpose=purpose.value)
        await self.refresh()

    async def _encrypt_again(self, job: Job) -> dict[str, int]:
        """Re-encrypt every value of another key with this one. Returns key ids to values that could not be read."""
        unreadable: dict[str, int] = {}
        for column in encrypted_columns():
            last_key: Sequence[Any] | None = None
            while True:
                async with self._database.reading() as session:
                    rows = await repository.next_values(session, column, job.id, after=last_key, limit=BATCH)
                if not rows:
                    break
                last_key = tuple(rows[-1])[:-1]
                replaced = await asyncio.to_thread(self._replaced, rows, unreadable)
                await self._write(job, column, replaced)
        return unreadable

    def _replaced(self, rows: Sequence[Any], unreadable: dict[str, int]) -> list[tuple[Any, bytes | str, bytes | str]]:
        """Yield primary key, ciphertext and new ciphertext of readable rows; counts the others."""
        replaced: list[tuple[Any, bytes | str, bytes | str]] = []
        for *primary, stored in rows:
            token = stored.encode() if isinstance(stored, str) else bytes(stored)
            try:
                new = self._box.encrypt(self._box.decrypt(token))
            except Unavailable:
                key_id = key_id_of(token)
                unreadable[key_id] = unreadable.get(key_id, 0) + 1
                continue
            replaced.append((primary, stored, new.decode() if isinstance(stored, str) else new))
        return replaced

    async def _write(self, job: Job, column: Column[Any], replaced: Sequence[tuple[Any, Any, Any]]) -> None:
        async with self._database.writing() as session:
            for primary, old, new in replaced:
                await repository.replace_value(session, column, primary, old, new)
            remaining = {repository.name_of(column): await repository.count_others(session, column, job.id)}
            change = update(installation_keys).where(self._queue.held(job)).values(progress={"left": remaining})
            if (await session.execute(change.returning(installation_keys.c.id))).one_or_none() is None:
                raise LeaseLost(f"Another worker has claimed the rotation to key {job.id}.")

    def _since(self, leases: int) -> int:
        return clock() - int(leases * self._runner.leases.seconds * MICROSECONDS)
