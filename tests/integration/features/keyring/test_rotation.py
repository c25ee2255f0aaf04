"""Rotation of the key that encrypts secrets, on both databases: online, resumable, and nothing is lost."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import IntegrityError

from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL
from headgate.features.audit.tables import AuditEvent
from headgate.features.keyring import repository, service
from headgate.features.keyring.errors import KeyInUse, KeyNotFound, KeyNotOld, RotationRuns
from headgate.features.keyring.states import KeyState
from headgate.features.secrets.tables import Variable
from headgate.foundation.ciphertexts import key_id_of, prefix_of
from headgate.foundation.database import Database, encrypted_columns
from headgate.foundation.errors import Unavailable
from headgate.foundation.keyring import KeyMissing, Purpose
from headgate.foundation.settings import Settings
from tests.support.keyrings import Machine, key_rows, keys_in, open_machine
from tests.support.logs import captured_logs
from tests.support.patience import PATIENCE_SECONDS


async def named_keys(database: Database) -> set[str]:
    """Ids of the keys that stored variables name."""
    async with database.reading() as session:
        return {key_id_of(token) for token in await session.scalars(select(Variable.token))}


class TestRotation:
    async def test_encrypts_again_what_older_keys_encrypted(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            expected = {f"NAME_{number}": f"value {number}" for number in range(5)}
            for name, value in expected.items():
                await machine.store(name, value)
            first, second = await machine.rotate(), await machine.rotate()
            assert first != second
            assert await named_keys(database) == {second}
            assert await machine.values() == expected
            assert await keys_in(database, KeyState.CURRENT) == [second]
            await machine.store("NAME_0", "later")
            assert await machine.values() == expected | {"NAME_0": "later"}
            assert await named_keys(database) == {second}

    async def test_continues_while_values_are_written(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine, open_machine(database, settings) as other:
            await asyncio.gather(*(machine.store(f"OLD_{number}", str(number)) for number in range(250)))
            rotating = asyncio.create_task(machine.rotate())
            expected = {f"OLD_{number}": str(number) for number in range(250)}
            number = 0
            while not rotating.done():  # one that has not heard of the rotation, over values that it re-encrypts
                await other.store(f"OLD_{number % 250}", f"changed {number}")
                expected[f"OLD_{number % 250}"] = f"changed {number}"
                number += 1
            await rotating
            assert await machine.values() == expected
            assert await other.values() == expected

    async def test_is_one_at_a_time(self, database: Database, settings: Settings, tmp_path: Path) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            async with open_machine(database, settings, tmp_path / "far") as far:
                await far.rotation.refresh()
                await begin(machine)
                with pytest.raises(RotationRuns):
                    await begin(machine)
                assert len(list(machine.ring.folder.iterdir())) == 1, "the refused key is deleted again"

    async def test_leaves_what_no_key_reads_and_says_which_is_missing(
        self, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            lost = await machine.rotate()
            path = machine.ring.folder / f"secrets-{lost}.key"
            shutil.move(path, tmp_path / path.name)
        async with open_machine(database, settings) as machine:
            new = await machine.rotate()
            assert (await key_rows(database))[new].progress == {"unreadable": {lost: 1}}
            with pytest.raises(KeyMissing) as missing:
                await machine.values()
            assert lost in missing.value.detail
            assert str(machine.ring.folder) in missing.value.remedy
            with pytest.raises(KeyInUse):
                await machine.retire(lost)
            shutil.move(tmp_path / path.name, path)
            await machine.rotation.finish(new)  # `retire` made it due again
            assert await named_keys(database) == {new}
            assert await machine.values() == {"NAME": "value"}


async def begin(machine: Machine) -> str:
    async with machine.database.writing() as session:
        return await service.rotate(session, LOCAL, machine.ring, Purpose.SECRETS)


class TestProcesses:
    async def test_of_one_machine_read_a_key_that_they_have_not_heard_of(
        self, database: Database, settings: Settings
    ) -> None:
        async with open_machine(database, settings) as machine, open_machine(database, settings) as other:
            await machine.store("NAME", "value")
            assert await other.values() == {"NAME": "value"}
            new = await machine.rotate()
            assert await other.values() == {"NAME": "value"}
            assert key_id_of(machine.box.encrypt(other.box.decrypt(await token(database)))) == new

    async def test_of_other_machines_get_the_key_before_anything_is_written_with_it(
        self, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            [first] = await named_keys(database)
            async with open_machine(database, settings, tmp_path / "far") as far:
                await far.rotation.refresh()
                new = await begin(machine)
                await let_it_ask(machine, new)
                row = (await key_rows(database))[new]
                assert (row.state, row.progress) == (
                    KeyState.PREPARED,
                    {"waiting_for": [far.runner.leases.worker.id]},
                )
                await machine.store("NAME", "during")
                assert await named_keys(database) == {first}
                assert await far.values() == {"NAME": "during"}

                far.ring.folder.mkdir()
                shutil.copy(machine.ring.folder / f"secrets-{new}.key", far.ring.folder)
                await far.rotation.refresh()
                await let_it_ask(machine, new)
                assert await keys_in(database, KeyState.CURRENT) == [new]
                assert await far.values() == {"NAME": "during"}
                await far.store("NAME", "late")  # it has not heard that the key is the current one
                assert await named_keys(database) == {first}
                await far.rotation.refresh()
                await let_it_ask(machine, new)
                assert await named_keys(database) == {new}
                assert await machine.values() == {"NAME": "late"}

    async def test_that_ended_are_not_waited_for(self, database: Database, settings: Settings, tmp_path: Path) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            async with open_machine(database, settings) as other:
                other.runner.leases.worker.open()
                await other.rotation.refresh()
            new = await machine.rotate()
            assert await named_keys(database) == {new}

    async def test_that_report_on_their_own_activate_it(
        self, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        async with (
            open_machine(database, settings, scans=True) as machine,
            open_machine(database, settings, scans=True),
        ):
            await machine.store("NAME", "value")
            new = await begin(machine)
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await named_keys(database) != {new}:  # noqa: ASYNC110 - of other event loops too
                    await asyncio.sleep(0.05)
            assert await machine.values() == {"NAME": "value"}


async def let_it_ask(machine: Machine, key_id: str) -> None:
    """Have the job of a rotation run once, whatever it is due."""
    async with machine.database.writing() as session:
        await repository.change_ring_key(session, key_id, due_at=0)
    await machine.rotation.finish(key_id)


async def token(database: Database) -> bytes:
    async with database.reading() as session:
        return (await session.scalars(select(Variable.token))).one()


class TestRetirement:
    async def test_is_refused_while_a_value_uses_the_key(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            before = await token(database)
            [first] = await named_keys(database)
            with pytest.raises(KeyNotFound):
                await machine.retire(first)
            new = await machine.rotate()
            with pytest.raises(KeyNotOld, match="current"):
                await machine.retire(new)
            async with database.writing() as session:
                await session.execute(update(Variable).values(token=before))
            with pytest.raises(KeyInUse, match=r"1 in variables\.token") as refused:
                await machine.retire(first)
            assert refused.value.extra == {"values": {"variables.token": 1}}
            await machine.rotation.finish(new)
            assert await machine.retire(first) is False
            assert await machine.values() == {"NAME": "value"}
            assert not (settings.data_dir / "secret.key").exists()

    async def test_refuses_what_a_process_writes_with_it_later(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine, open_machine(database, settings) as asleep:
            await asleep.store("NAME", "value")
            [first] = await named_keys(database)
            await machine.rotate()
            await machine.retire(first)
            with pytest.raises(IntegrityError, match="retired"):
                await asleep.store("NAME", "lost")
            assert await machine.values() == {"NAME": "value"}
            await asleep.rotation.refresh()
            await asleep.store("NAME", "not lost")
            assert await machine.values() == {"NAME": "not lost"}

    async def test_ends_the_reading_of_backups_and_nothing_before_it_does(
        self, database: Database, settings: Settings
    ) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            backup = await token(database)
            await machine.rotate()
        async with open_machine(database, settings) as machine:
            assert machine.box.decrypt(backup).get_secret_value() == "value"
            await machine.retire(key_id_of(backup))
        async with open_machine(database, settings) as machine:
            with pytest.raises(KeyMissing, match=key_id_of(backup)):
                machine.box.decrypt(backup)

    async def test_deletes_the_key_on_other_machines(
        self, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            [first] = await named_keys(database)
            await machine.rotate()
            async with open_machine(database, settings, tmp_path / "far") as far:
                await machine.retire(first)
                await far.rotation.refresh()
                assert not (far.settings.data_dir / "secret.key").exists()


class TestKill:
    async def test_in_the_middle_loses_nothing(self, database: Database, settings: Settings) -> None:
        expected = {f"NAME_{number}": f"value {number}" for number in range(1500)}
        async with open_machine(database, settings) as machine:
            async with database.writing() as session:
                for name, value in expected.items():
                    stored = machine.box.encrypt(SecretStr(value))
                    session.add(Variable(tenant_id=DEFAULT_TENANT_ID, name=name, token=stored, secret=True))
            process = rotate_in_another_process(settings)
            try:
                new = await half_done(database)
            finally:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            async with database.reading() as session:
                done = prefix_of(new)
                left = [token for token in await session.scalars(select(Variable.token)) if not token.startswith(done)]
            assert 0 < len(left) < len(expected)
            assert await machine.values() == expected
            await machine.runner.recover()
            await machine.rotation.finish(new)
            assert await named_keys(database) == {new}
            assert await machine.values() == expected


def rotate_in_another_process(settings: Settings) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "HEADGATE_DATA_DIR": str(settings.data_dir),
        "HEADGATE_DATABASE__URL": settings.database.url,
    }
    command = [sys.executable, "-m", "headgate", "keyring", "rotate"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=settings.data_dir)


async def half_done(database: Database) -> str:
    """Return the id of the new key when some values are of it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            current = await keys_in(database, KeyState.CURRENT)
            rows = await key_rows(database)
            if current and rows[current[0]].progress:
                return current[0]
            await asyncio.sleep(0.005)


class TestMaterial:
    async def test_is_in_no_log_row_error_or_representation(self, database: Database, settings: Settings) -> None:
        with captured_logs() as logs:
            async with open_machine(database, settings) as machine:
                await machine.store("NAME", "value")
                [first] = await named_keys(database)
                material = [(settings.data_dir / "secret.key").read_text()]
                new = await machine.rotate()
                await machine.rotate(Purpose.EVIDENCE)
                material += [path.read_text() for path in machine.ring.folder.iterdir()]
                shown = [repr(machine.ring.current(Purpose.SECRETS)), repr(machine.ring), repr(machine.box)]
                for refused in (machine.retire(new), machine.retire("0" * 16)):
                    with pytest.raises((KeyNotOld, KeyNotFound)) as error:
                        await refused
                    shown.append(repr(error.value) + str(error.value.problem()))
                await machine.retire(first)
                async with database.reading() as session:
                    audit = (await session.scalars(select(AuditEvent))).all()
                    actions = {event.action for event in audit}
                    dump = [str((await session.execute(text(f"SELECT * FROM {table}"))).all()) for table in TABLES]
        assert len(material) == 3
        assert actions >= {f"installation_key.{what}" for what in ("prepared", "activated", "retired")}
        everything = "\n".join([*shown, *dump, str(logs)])
        assert not [key for key in material if key in everything]

    async def test_is_in_private_files(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            await machine.rotate()
            [path] = machine.ring.folder.iterdir()
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    async def test_that_is_not_what_its_name_says_is_refused(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            await machine.rotate()
            [path] = machine.ring.folder.iterdir()
            path.write_bytes((settings.data_dir / "secret.key").read_bytes())
        async with open_machine(database, settings) as machine:
            with pytest.raises(Unavailable, match="does not contain the key that its name states"):
                await machine.values()


TABLES = ("installation_keys", "key_readers", "audit_events")


class TestCount:
    async def test_is_by_key_and_column(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            async with database.reading() as session:
                counts = await repository.count_values(
                    session, [column for column in encrypted_columns() if column.table.name == "variables"]
                )
                assert counts == {key_id_of(await token(database)): {"variables.token": 1}}
                assert await session.scalar(select(func.count()).select_from(Variable)) == 1
