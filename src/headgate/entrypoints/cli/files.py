"""Reads files named on the command line, and writes output files."""

import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.entrypoints.cli.session import acting
from headgate.entrypoints.installation import Installation
from headgate.foundation.errors import Invalid
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.features.files import service
else:
    service = lazy_module("headgate.features.files.service")


async def store_files(installation: Installation, paths: Sequence[Path]) -> tuple[str, ...]:
    """Store local files as uploads. Returns their ids. Raises `Invalid` when one cannot be read."""
    ids = []
    for path in paths:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise Invalid(f"{path} cannot be read: {error.strerror}.", remedy="Check the path.") from error
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        stored = await service.store_upload(
            installation.database,
            installation.storage,
            acting(),
            name=path.name,
            content=content,
            media_type=media_type,
        )
        ids.append(stored.id)
    return tuple(ids)


def write_file(path: Path, content: bytes) -> None:
    """Write a command's output to a file. Raises `Invalid` when that fails."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.", remedy="Give another --output.") from error


def form_answers(pairs: list[str]) -> dict[str, str]:
    """Return form answers from `field=value`. Raises `Invalid`."""
    answers: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Invalid(f"'{pair}' is not a valid form answer.", remedy="Write field=value.")
        answers[name] = value
    return answers


async def with_files(installation: Installation, answers: dict[str, str]) -> dict[str, JsonValue]:
    """Return the form answers, with each `@path` uploaded as a file and replaced by its id."""
    paths = {name: Path(value[1:]) for name, value in answers.items() if value[:1] == "@" and Path(value[1:]).is_file()}
    ids = await store_files(installation, list(paths.values()))
    return {**answers, **dict(zip(paths, ids, strict=True))}
