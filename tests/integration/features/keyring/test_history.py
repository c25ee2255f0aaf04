"""Evidence of before a rotation, checked offline with the history of keys; a revoked key proves nothing."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.access.principal import LOCAL
from headgate.features.audit.tables import AuditEvent
from headgate.features.keyring import service
from headgate.features.keyring.errors import KeyNotFound, KeyNotOld
from headgate.features.runs.evidence.archive import as_json
from headgate.features.runs.evidence.seal import seal_of
from headgate.features.runs.evidence.verify import verify
from headgate.foundation.canonical import canonical
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.key_history import CLOCKS_DIFFER, KeyHistory, KeyRecord, history_document, read_history
from headgate.foundation.keyring import Purpose
from headgate.foundation.settings import Settings
from headgate.foundation.signing import Signer
from tests.support.evidence import package_of
from tests.support.keyrings import Machine, open_machine

SEED, OTHER = b"\x01" * 32, b"\x02" * 32


def signed_by(signer: Signer) -> bytes:
    """Evidence with a seal by another key than its own."""
    package = package_of()
    seal = package["seal"]
    return as_json({**package, "seal": seal_of(signer, seal["head"], seal["steps"])})


async def history_of(machine: Machine) -> bytes:
    async with machine.database.reading() as session:
        records = await service.signing_keys(session, machine.ring)
    return history_document(machine.signer.signer(), records)


class TestHistory:
    async def test_verifies_what_older_keys_signed_also_when_they_are_retired(
        self, database: Database, settings: Settings
    ) -> None:
        async with open_machine(database, settings) as machine:
            first = machine.signer.signer()
            old = signed_by(first)
            assert verify(old, history=read_history(await history_of(machine))).good
            await machine.rotate(Purpose.EVIDENCE)
            second = machine.signer.signer()
            assert second.key != first.key
            for _ in range(2):
                history = read_history(await history_of(machine), second.key)
                assert [record.key_id for record in history.keys] == [first.key.key_id, second.key.key_id]
                assert verify(old, history=history).good
                assert verify(signed_by(second), history=history).good
                if machine.ring.has(Purpose.EVIDENCE, first.key.key_id):
                    await machine.retire(first.key.key_id)
            assert not (settings.data_dir / "evidence.key").exists()

    async def test_names_the_date_and_the_reason_of_a_revoked_key(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            first = machine.signer.signer()
            old = signed_by(first)
            with pytest.raises(KeyNotFound):
                await revoke(machine, first.key.key_id)
            new = await machine.rotate(Purpose.EVIDENCE)
            with pytest.raises(KeyNotOld, match="Rotate first"):
                await revoke(machine, new)
            await revoke(machine, first.key.key_id)
            history = read_history(await history_of(machine))
            [fault] = verify(old, history=history).faults
            assert f"{datetime.now(UTC):%Y-%m-%d}" in fault.what
            assert "a laptop was stolen" in fault.what
            assert verify(signed_by(machine.signer.signer()), history=history).good

    async def test_revokes_no_key_that_encrypts(self, database: Database, settings: Settings) -> None:
        async with open_machine(database, settings) as machine:
            await machine.store("NAME", "value")
            first = machine.ring.current(Purpose.SECRETS).id
            await machine.rotate()
            with pytest.raises(KeyNotFound):
                await revoke(machine, first)


async def revoke(machine: Machine, key_id: str) -> None:
    async with machine.database.writing() as session:
        await service.revoke(session, LOCAL, key_id, reason="a laptop was stolen")
    async with machine.database.reading() as session:
        entries = (await session.scalars(select(AuditEvent))).all()
    assert ("installation_key.revoked", key_id) in {(entry.action, entry.resource_id) for entry in entries}


def record_of(signer: Signer, **times: Any) -> KeyRecord:
    return KeyRecord(**signer.key.model_dump(), **times)


class TestFile:
    def test_that_was_changed_is_refused(self) -> None:
        document = json.loads(history_document(Signer(SEED), [record_of(Signer(SEED)), record_of(Signer(OTHER))]))
        for changed in (
            {**document, "keys": document["keys"][:1]},
            {**document, "keys": [{**document["keys"][0], "revoked_at": None, "reason": "x"}, document["keys"][1]]},
            {**document, "signature": "AAAA"},
            {**document, "keys": "none"},
        ):
            with pytest.raises(Invalid, match="changed"):
                read_history(canonical(changed))

    def test_of_another_signer_is_refused(self) -> None:
        document = history_document(Signer(SEED), [record_of(Signer(SEED))])
        with pytest.raises(Invalid, match="signed by key"):
            read_history(document, Signer(OTHER).key)

    @pytest.mark.parametrize("records", [[], [record_of(Signer(SEED), revoked_at=datetime.now(UTC))]])
    def test_that_does_not_hold_its_own_signer_is_refused(self, records: list[KeyRecord]) -> None:
        with pytest.raises(Invalid, match="The key history is signed by a key that it does not list as valid"):
            read_history(history_document(Signer(SEED), records))

    @pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"format": "headgate-evidence/1"}'])
    def test_that_is_none_is_refused(self, content: bytes) -> None:
        with pytest.raises(Invalid, match="The file is not a key history"):
            read_history(content)


class TestTime:
    def test_of_a_run_is_not_after_its_key(self) -> None:
        replaced = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
        history = KeyHistory(keys=(record_of(Signer(SEED), valid_until=replaced),))
        key_id = Signer(SEED).key.key_id
        assert history.fault(key_id, replaced + CLOCKS_DIFFER) is None
        assert history.fault(key_id, None) is None
        wrong = history.fault(key_id, replaced + CLOCKS_DIFFER + timedelta(seconds=1))
        assert wrong is not None
        assert "2026-11-23 12:00 UTC" in wrong

    def test_says_of_a_stranger_that_it_is_none_of_them(self) -> None:
        wrong = KeyHistory(keys=()).fault(Signer(OTHER).key.key_id, None)
        assert wrong is not None
        assert "which is not in the key history" in wrong
