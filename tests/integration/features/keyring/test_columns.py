"""Every column of ciphertext takes part in a rotation, on the day it is written. Nothing here names one by hand."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Engine,
    Float,
    Integer,
    LargeBinary,
    Table,
    create_engine,
    insert,
    text,
)
from sqlalchemy.exc import IntegrityError

import headgate
from headgate.features.keyring import repository
from headgate.features.keyring.errors import KeyInUse
from headgate.foundation.ciphertexts import key_id_of
from headgate.foundation.database import Database, Encrypted, EncryptedText, Json, Timestamp, encrypted_columns, now
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.migrations.versions import __path__ as _versions
from headgate.foundation.settings import Settings
from tests.conftest import KINDS
from tests.support.databases import Postgres, SqliteFiles, make_settings
from tests.support.keyrings import open_machine

pytestmark = pytest.mark.both_databases

SOURCE = Path(headgate.__file__).parent
COLUMNS = [repository.name_of(column) for column in encrypted_columns()]
PLAIN = {
    *("passkeys.credential_id", "passkeys.public_key", "passkey_challenges.challenge"),
    *("knowledge_vectors.vector", "knowledge_vector_groups.centroids"),
}
"""Columns of bytes in the clear: what a browser sends, and embeddings, which are searched like the text of passages."""
CALLERS = {
    "agents/codev/writing/snapshots.py",  # codev_writes
    "features/accounts/second_factor/service.py",  # totp_authenticators
    "features/accounts/single_sign_on/transaction.py",  # a cookie of a few minutes
    "features/alerts/sending.py",  # alert_rules
    "features/connections/oauth/authorizing.py",  # connection_authorizations
    "features/connections/oauth/provider.py",  # connection_tokens
    "features/connections/sealed.py",  # connections
    "features/encryption/keys.py",  # data_keys
    "features/flows/state/sealed.py",  # flow_states, flow_state_values
    "features/keyring/rotation.py",  # all of them
    "features/mcptools/target.py",  # mcp_servers
    "features/models/setup/sealed.py",  # model_servers
    "features/runs/approvals/notices.py",  # approval_notices
    "features/runs/approvals/sealed.py",  # approvals, approval_decisions
    "features/runs/deliveries/target.py",  # webhook_deliveries
    "features/runs/sent_events/sealed.py",  # sent_events, event_waits
    "features/runs/steps/calls.py",  # flow_step_calls
    "features/runs/widget/tokens.py",  # tokens of a day, which a visitor holds
    "features/secrets/service.py",  # variables
    "features/triggers/sealed.py",  # triggers, trigger_occurrences
}
"""What encrypts, and where that is stored. Whoever adds one says whether it is a column, and gives that its type."""
VALUES = {
    "kind": "openai",
    "status": "pending",
    "codev_writes.state": "intended",
    "data_keys.state": "active",
    "approval_decisions.decision": "approve",
    "approval_notices.kind": "asked",
    "alert_rules.kind": "failure",
    "transport": "http",
    "deliver": "one",
    "event_waits.status": "waiting",
    "triggers.kind": "schedule",
    "trigger_occurrences.status": "started",
    "connections.status": "ready",
}
"""Of columns that take a few values only."""


class TestColumns:
    def test_are_known_to_a_process_that_has_used_no_table(self) -> None:
        code = (
            "from headgate.foundation.database import encrypted_columns;"
            "print([f'{one.table.name}.{one.name}' for one in encrypted_columns()])"
        )
        shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        assert json.loads(shown.replace("'", '"')) == COLUMNS
        assert len(COLUMNS) >= 7

    def test_of_bytes_are_ciphertext_or_known_to_be_none(self) -> None:
        tables = encrypted_columns()[0].table.metadata.tables.values()
        plain = {
            repository.name_of(column)
            for table in tables
            for column in table.columns
            if isinstance(column.type, LargeBinary)
        }
        assert plain == PLAIN

    def test_are_all_that_is_encrypted(self) -> None:
        callers = {
            str(path.relative_to(SOURCE))
            for path in SOURCE.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "encrypt"
        }
        assert callers - {"foundation/crypto.py", "foundation/sealing.py", "entrypoints/backups/sealing.py"} == CALLERS

    def test_are_in_modules_that_a_rotation_imports(self) -> None:
        for path in SOURCE.rglob("*.py"):
            code = path.read_text(encoding="utf-8")
            if path.name != "tables.py":
                assert not re.search(r"olumn\([^()]*\bEncrypted(Text)?\b", code), path

    @pytest.mark.parametrize("value", [b"in the clear", b""])
    def test_take_no_value_in_the_clear(self, value: bytes) -> None:
        with pytest.raises(ValueError, match="SecretBox"):
            Encrypted().process_bind_param(value, create_engine("sqlite://").dialect)

    def test_of_text_take_no_value_in_the_clear(self) -> None:
        with pytest.raises(ValueError, match="SecretBox"):
            EncryptedText().process_bind_param("in the clear", create_engine("sqlite://").dialect)


@pytest.fixture(params=KINDS)
def own_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a database that is deleted: its rows have no parents."""
    if request.param == "sqlite":
        files: SqliteFiles = request.getfixturevalue("sqlite_files")
        files.fresh(tmp_path)
        yield make_settings(tmp_path)
        return
    server: Postgres = request.getfixturevalue("postgres")
    with server.empty() as url:
        yield make_settings(tmp_path, url)


@pytest.fixture
async def own(own_settings: Settings) -> AsyncIterator[Database]:
    database = Database(own_settings)
    await upgrade(database)
    yield database
    await database.close()


class TestRotation:
    @pytest.mark.parametrize("name", COLUMNS)
    async def test_covers(self, own: Database, own_settings: Settings, name: str) -> None:
        column = next(one for one in encrypted_columns() if repository.name_of(one) == name)
        async with open_machine(own, own_settings) as machine:
            before = machine.box.encrypt(SecretStr("hunter22"))
            add_row(own_settings, column, before)
            first = key_id_of(before)
            async with own.reading() as session:
                assert await repository.count_values(session, encrypted_columns()) == {first: {name: 1}}
            new = await machine.rotate()
            after = await stored(own, column)
            assert key_id_of(after) == new
            assert machine.box.decrypt(after).get_secret_value() == "hunter22"
            await write(own, column, before)
            with pytest.raises(KeyInUse, match=name):
                await machine.retire(first)
            await machine.rotation.finish(new)
            await machine.retire(first)
            with pytest.raises(IntegrityError, match="retired"):
                await write(own, column, before)
            assert key_id_of(await stored(own, column)) == new


def add_row(settings: Settings, column: Column[Any], token: bytes) -> None:
    """A row with the token and no parents."""
    engine = create_engine(settings.database_url.replace("sqlite+aiosqlite", "sqlite"))
    table = column.table
    assert isinstance(table, Table)
    values = {one.name: filler(one) for one in table.columns if needed(one)}
    values[column.name] = token.decode() if isinstance(column.type, EncryptedText) else token
    for other in table.columns:
        if other is not column and not other.nullable and isinstance(other.type, Encrypted | EncryptedText):
            values[other.name] = "" if isinstance(other.type, EncryptedText) else token
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(insert(table).values(values))
    close(engine)


def needed(column: Column[Any]) -> bool:
    return not column.nullable and column.default is None and column.server_default is None


def filler(column: Column[Any]) -> Any:
    """A value that a column takes."""
    for name in (repository.name_of(column), column.name):
        if name in VALUES:
            return VALUES[name]
    kind = column.type
    if isinstance(kind, Boolean):
        return True
    if isinstance(kind, Integer | BigInteger | Float):
        return 1
    if isinstance(kind, Timestamp):
        return now()
    return {} if isinstance(kind, Json) else "x"


def close(engine: Engine) -> None:
    engine.dispose()


async def stored(database: Database, column: Column[Any]) -> bytes:
    async with database.reading() as session:
        value = await session.scalar(text(f'SELECT "{column.name}" FROM {column.table.name}'))
    return value.encode() if isinstance(value, str) else bytes(value)


async def write(database: Database, column: Column[Any], token: bytes) -> None:
    value = token.decode() if isinstance(column.type, EncryptedText) else token
    async with database.writing() as session:
        statement = text(f'UPDATE {column.table.name} SET "{column.name}" = :value')
        await session.execute(statement, {"value": value})


def test_the_migration_guards_them_all() -> None:
    [path] = Path(_versions[0]).glob("0*_installation_keys.py")
    constants = {
        node.target.id: ast.literal_eval(node.value)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    first = {f"{table}.{name}" for table, name, _ in constants["COLUMNS"]}
    later = {
        f"{table}.{name}"
        for path in Path(_versions[0]).glob("0*.py")
        for table, name in re.findall(r'\.guard\("(\w+)", "(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert sorted(first | later) == COLUMNS
