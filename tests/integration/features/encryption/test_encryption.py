"""Content is encrypted with its organisation's key: nothing of it is on the disk, and no other key opens it."""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import LargeBinary, Text, func, select, update

from headgate.agents.assistant.memory.conversation import ConversationTurn, SessionKey
from headgate.agents.assistant.memory.in_database import DatabaseBuffer
from headgate.features.access.principal import DEFAULT_TENANT_ID, DEFAULT_USER_ID, LOCAL
from headgate.features.audit.tables import AuditEvent
from headgate.features.conversations.tables import assistant_conversations
from headgate.features.encryption import repository, service
from headgate.features.encryption.errors import ContentDestroyed, EncryptionRequired, NothingToDestroy
from headgate.features.encryption.keys import DataKeys
from headgate.features.encryption.tables import data_keys
from headgate.features.files import service as files
from headgate.features.files.errors import FileDamaged
from headgate.features.files.local_storage import INCOMING, LocalStorage
from headgate.features.files.sealed_storage import SealedStorage
from headgate.features.files.tables import StoredFile
from headgate.foundation.ciphertexts import key_id_of
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, Encrypted, EncryptedText, Json, metadata
from headgate.foundation.keyring import new_ring
from headgate.foundation.sealing import SealBroken
from headgate.foundation.settings import Settings
from tests.integration.isolation.rows import rows_of
from tests.support.keyrings import open_machine
from tests.support.tenants import add_tenant

MARKER = "PLAINTEXT-MARKER"
SESSION = SessionKey(DEFAULT_TENANT_ID, DEFAULT_USER_ID, "a conversation")
ENCRYPTED = {"assistant_conversations.turns"}
"""Columns that are encrypted with a data key."""
STORED_AS_IT_IS = {
    "flow_runs", "flow_step_results", "flow_step_attempts", "flow_run_events", "flows", "flow_drafts", "flow_versions",
    "version_steps", "version_edges", "flow_tests", "flow_test_results", "flow_test_trials", "assistants",
    "own_components", "packs", "pack_items", "pack_components",
    "codev_sessions", "codev_events", "codev_notices", "codev_writes", "codev_patterns",
    "codev_pattern_words", "codev_instances", "idempotency_keys", "webhook_deliveries", "webhook_delivery_attempts",
    "audit_events", "secret_reads", "triggers", "mcp_servers", "mcp_tools", "model_servers",
    "model_facts", "model_roles",
    "knowledge_bases", "knowledge_documents", "knowledge_passages", "knowledge_vectors",
    "knowledge_vector_groups", "knowledge_metadata",
    "knowledge_questions", "knowledge_evaluations", "knowledge_sources", "knowledge_source_items",
    "connections", "connection_apis", "connection_operations",
    "flow_tags", "flow_comments", "flow_conversations", "chat_feedback",
}  # fmt: skip
"""Tables with content that data keys do not encrypt; docs/operate/security.md names them."""
NO_CONTENT = {
    "knowledge_versions", "knowledge_readers",
    "quotas", "codev_pattern_uses", "approvals", "approval_decisions", "approval_notices", "approval_links",
    "flow_states",
    "flow_state_values", "sent_events", "event_waits", "trigger_occurrences", "trigger_links",
    "connection_tokens", "connection_authorizations",
    "budget_accounts", "run_slots", "failure_handlers", "host_circuits",
    "installation_keys", "key_readers", "processes", "scheduled_jobs", "data_keys",
    "tenants", "users", "spaces", "space_members",
    "user_sessions", "one_time_links", "totp_authenticators", "passkeys", "passkey_challenges", "recovery_codes",
    "api_keys", "directories", "directory_users", "directory_groups", "directory_group_members",
    "directory_group_roles", "audit_heads", "variables", "files", "flow_step_calls", "model_classes",
    "flow_favourites", "flow_comment_mentions", "attention_dismissals", "attention_assignments", "saved_views",
    "alert_rules", "alerts", "alert_notices", "alert_evaluations", "pack_signers",
    "slos", "slo_counts",
}  # fmt: skip
"""Tables of names, ids, times, hashes and what the installation's keys encrypt."""


@dataclass
class Vault:
    """The parts that store content."""

    database: Database
    keys: DataKeys
    box: SecretBox
    root: Path

    @property
    def storage(self) -> SealedStorage:
        return SealedStorage(LocalStorage(self.root), self.keys)

    @property
    def conversations(self) -> DatabaseBuffer:
        return DatabaseBuffer(self.database, 3600, self.keys)

    async def upload(self, content: bytes = MARKER.encode()) -> StoredFile:
        return await files.store_upload(self.database, self.storage, LOCAL, name="notes.txt", content=content)

    async def read(self, row: StoredFile) -> bytes:
        return await files.read_content(self.storage, row)

    def on_disk(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.root.rglob("*") if path.is_file())


@pytest.fixture
def vault(database: Database, settings: Settings, tmp_path: Path) -> Vault:
    box = SecretBox(new_ring(settings))
    return Vault(database, DataKeys(database, box, always=False), box, tmp_path / "contents")


async def enable(vault: Vault) -> None:
    async with vault.database.writing() as session:
        await service.enable(session, LOCAL, vault.box)


async def actions(database: Database) -> list[str]:
    async with database.reading() as session:
        return list(await session.scalars(select(AuditEvent.action).where(AuditEvent.action.startswith("data_key."))))


class TestContent:
    async def test_is_nowhere_in_the_clear(self, vault: Vault) -> None:
        await enable(vault)
        row = await vault.upload(MARKER.encode() * 10_000)
        await vault.conversations.push_async(SESSION, ConversationTurn(f"asked {MARKER}", f"answered {MARKER}"))
        assert MARKER.encode() not in vault.on_disk()
        tables = {name: rows for name, rows in (await rows_of(vault.database, LOCAL)).items() if MARKER in str(rows)}
        assert tables == {}
        assert await vault.read(row) == MARKER.encode() * 10_000
        (turn,) = await vault.conversations.get_recent(SESSION)
        assert turn == ConversationTurn(f"asked {MARKER}", f"answered {MARKER}")

    async def test_from_before_stays_readable(self, vault: Vault) -> None:
        before = await vault.upload(b"hgf1 looks like an encrypted file")
        await vault.conversations.push_async(SESSION, ConversationTurn("first", "one"))
        await enable(vault)
        after = await vault.upload()
        await vault.conversations.push_async(SESSION, ConversationTurn("second", "two"))
        assert (before.data_key_id, after.data_key_id is not None) == (None, True)
        assert await vault.read(before) == b"hgf1 looks like an encrypted file"
        assert await vault.read(after) == MARKER.encode()
        assert [turn.user for turn in await vault.conversations.get_recent(SESSION)] == ["first", "second"]
        async with vault.database.writing() as session:
            await service.disable(session, LOCAL, always=False)
        assert (await vault.upload()).data_key_id is None
        assert await vault.read(after) == MARKER.encode()

    async def test_of_a_conversation_is_refused_in_the_place_of_another(self, vault: Vault) -> None:
        await enable(vault)
        other = replace(SESSION, session_id="another")
        for key in (SESSION, other):
            await vault.conversations.push_async(key, ConversationTurn(key.session_id, "yes"))
        async with vault.database.writing() as session:
            turns = (await session.scalars(select(assistant_conversations.c.turns))).first()
            await session.execute(update(assistant_conversations).values(turns=turns))
        answers = await asyncio.gather(
            *(vault.conversations.get_recent(key) for key in (SESSION, other)), return_exceptions=True
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["SealBroken", "list"]

    async def test_is_not_on_the_disk_after_a_kill_in_the_middle(self, settings: Settings, tmp_path: Path) -> None:
        root = tmp_path / "contents"
        writer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", WRITER, str(root), MARKER, stdout=asyncio.subprocess.PIPE
        )
        assert writer.stdout is not None
        assert await writer.stdout.readline() == b"written\n"
        os.kill(writer.pid, signal.SIGKILL)
        await writer.wait()
        (part,) = (root / INCOMING).iterdir()
        assert part.stat().st_size > 0
        assert MARKER.encode() not in part.read_bytes()
        assert [path for path in root.rglob("*") if path.is_file()] == [part]


WRITER = """
import asyncio, sys
from pathlib import Path
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.sealed_storage import SealedStorage
from headgate.foundation.ids import new_id
from headgate.foundation.sealing import new_data_key
class Keys:
    async def current(self, tenant_id):
        return new_data_key(tenant_id)
async def content():
    for _ in range(40):
        yield sys.argv[2].encode() * 10_000
    print("written", flush=True)
    await asyncio.Event().wait()
storage = SealedStorage(LocalStorage(Path(sys.argv[1])), Keys())
asyncio.run(storage.put(new_id(), new_id(), content(), max_bytes=10**9))
"""


class TestKeys:
    async def test_of_another_organisation_open_nothing(self, vault: Vault) -> None:
        await enable(vault)
        row = await vault.upload()
        other = await add_tenant(vault.database, "Other")
        async with vault.database.writing() as session:
            await service.enable(session, other, vault.box)
        theirs = await vault.keys.current(other.tenant_id)
        assert theirs is not None
        with pytest.raises(ContentDestroyed):
            await vault.keys.get(other.tenant_id, row.data_key_id or "")
        stored = vault.root / row.tenant_id / row.id[-2:] / row.id
        moved = vault.root / other.tenant_id / row.id[-2:] / row.id
        moved.parent.mkdir(parents=True)
        moved.write_bytes(stored.read_bytes())
        with pytest.raises(FileDamaged):
            await vault.storage.get(other.tenant_id, row.id, sha256=row.sha256, data_key_id=theirs.id)
        own = await vault.keys.get(row.tenant_id, row.data_key_id or "")
        with pytest.raises(SealBroken):
            replace(own, tenant_id=other.tenant_id).opened(own.sealed(b"x", "place"), "place")

    async def test_are_wrapped_again_by_a_rotation_that_rewrites_no_content(
        self, vault: Vault, settings: Settings
    ) -> None:
        async with open_machine(vault.database, settings) as machine:
            vault = replace(vault, keys=DataKeys(vault.database, machine.box, always=True))
            row = await vault.upload()
            before = vault.on_disk()
            new = await machine.rotate()
            async with vault.database.reading() as session:
                wrapped = (await session.execute(select(data_keys.c.wrapped))).scalar_one()
            assert key_id_of(wrapped) == new
            assert vault.on_disk() == before
            again = replace(vault, keys=DataKeys(vault.database, machine.box, always=True))
            assert await again.read(row) == MARKER.encode()

    async def test_are_one_however_many_processes_make_them(self, vault: Vault) -> None:
        made = [DataKeys(vault.database, vault.box, always=True) for _ in range(5)]
        keys = await asyncio.gather(*(each.current(DEFAULT_TENANT_ID) for each in made))
        assert len({key.id for key in keys if key is not None}) == 1
        assert None not in keys
        assert await actions(vault.database) == ["data_key.created"]

    async def test_that_are_destroyed_take_the_content_with_them(self, vault: Vault) -> None:
        await enable(vault)
        row = await vault.upload()
        await vault.conversations.push_async(SESSION, ConversationTurn("asked", "answered"))
        async with vault.database.writing() as session:
            assert await service.destroy(session, LOCAL) == 1
        for keys in (vault.keys, DataKeys(vault.database, vault.box, always=False)):
            with pytest.raises(ContentDestroyed, match="was destroyed on 20"):
                await replace(vault, keys=keys).read(row)
        assert list(await vault.conversations.get_recent(SESSION)) == []
        async with vault.database.reading() as session:
            assert (await session.scalar(select(func.count()).where(data_keys.c.wrapped.is_not(None)))) == 0
            state = await service.encryption_of(session, LOCAL, always=False)
        assert (state.on, state.keys, state.destroyed_at is not None) == (False, 0, True)
        assert await actions(vault.database) == ["data_key.created", "data_key.destroyed"]
        always = replace(vault, keys=DataKeys(vault.database, vault.box, always=True))
        new = await always.upload()
        await always.conversations.push_async(SESSION, ConversationTurn("again", "yes"))
        assert new.data_key_id not in (None, row.data_key_id)
        assert [turn.user for turn in await always.conversations.get_recent(SESSION)] == ["again"]

    async def test_cannot_be_turned_off_against_the_setting_or_destroyed_where_there_are_none(
        self, vault: Vault
    ) -> None:
        async with vault.database.writing() as session:
            with pytest.raises(EncryptionRequired):
                await service.disable(session, LOCAL, always=True)
            with pytest.raises(NothingToDestroy):
                await service.destroy(session, LOCAL)
            assert await repository.find_active_key(session, tenant_id=DEFAULT_TENANT_ID) is None


class TestColumns:
    def test_with_content_are_encrypted_or_named_as_not(self) -> None:
        """A new table says here whether its content is encrypted; the documentation says the same."""
        assert not STORED_AS_IT_IS & NO_CONTENT
        known = STORED_AS_IT_IS | NO_CONTENT | {name.partition(".")[0] for name in ENCRYPTED}
        assert set(metadata.tables) == known
        text = {
            f"{table.name}.{column.name}"
            for table in metadata.tables.values()
            for column in table.columns
            if table.name not in STORED_AS_IT_IS | NO_CONTENT
            and isinstance(column.type, Json | Text | LargeBinary | Encrypted | EncryptedText)
        }
        assert text == ENCRYPTED

    def test_that_are_not_encrypted_are_in_the_documentation(self) -> None:
        page = (Path(__file__).parents[4] / "docs" / "operate" / "security.md").read_text(encoding="utf-8")
        section = page.partition("## Encryption at rest\n")[2].partition("\n## ")[0]
        assert {name for name in STORED_AS_IT_IS if f"`{name}`" not in section} == set()
