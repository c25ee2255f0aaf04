"""Column types for ciphertext. Key rotation finds the columns by type, so new columns are covered automatically."""

from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Dialect, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

from headgate.foundation.ciphertexts import MARK
from headgate.foundation.database.tables import metadata

_PACKAGE = Path(__file__).parents[2]


class Encrypted(TypeDecorator[bytes]):
    """Ciphertext from `SecretBox.encrypt` as bytes. Other values are rejected, so nothing is stored in the clear."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Return the same bytes. Raises `ValueError` when they are not ciphertext."""
        if value is not None and not value.startswith(MARK):
            raise ValueError("an encrypted column takes the output of SecretBox.encrypt")
        return value


class EncryptedText(TypeDecorator[str]):
    """Ciphertext from `SecretBox.encrypt` as text; empty text means no value."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Return the same text. Raises `ValueError` when it is not ciphertext."""
        if value and not value.startswith(MARK.decode()):
            raise ValueError("an encrypted column takes the output of SecretBox.encrypt")
        return value


def encrypted_columns() -> list[Column[Any]]:
    """Return every ciphertext column, by table and name.

    Imports every `tables` module of the package first: a process knows only the tables it has used, and a rotation must
    not skip any.
    """
    for path in sorted(_PACKAGE.rglob("tables.py")):
        parts = path.relative_to(_PACKAGE).with_suffix("").parts
        import_module(".".join((_PACKAGE.name, *parts)))
    columns = [column for table in metadata.tables.values() for column in table.columns]
    encrypted = [column for column in columns if isinstance(column.type, Encrypted | EncryptedText)]
    return sorted(encrypted, key=lambda column: (column.table.name, column.name))
