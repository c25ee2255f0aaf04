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


def read_upload(path: Path) -> bytes:
    """Return the content of a local file. Raises `Invalid` when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.", remedy="Check the path.") from error


async def store_files(installation: Installation, paths: Sequence[Path]) -> tuple[str, ...]:
    """Store local files as uploads. Returns their ids. Raises `Invalid` when one cannot be read."""
    ids = []
    for path in paths:
        content = read_upload(path)
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


def form_answers(pairs: list[str]) -> dict[str, JsonValue]:
    """Return form answers from `field=value`; a field that is repeated has a list. Raises `Invalid`."""
    answers: dict[str, JsonValue] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise Invalid(f"'{pair}' is not a valid form answer.", remedy="Write field=value.")
        before = answers.get(name)
        earlier = [] if before is None else before if isinstance(before, list) else [before]
        answers[name] = [*earlier, value] if earlier else value
    return answers


async def with_files(installation: Installation, answers: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the form answers, with each `@path` uploaded as a file and replaced by its id."""
    values = [value for answer in answers.values() for value in (answer if isinstance(answer, list) else [answer])]
    paths = {value: Path(value[1:]) for value in values if isinstance(value, str) and _is_file(value)}
    ids: dict[JsonValue, JsonValue] = dict(
        zip(paths, await store_files(installation, list(paths.values())), strict=True)
    )
    return {
        name: [ids.get(value, value) for value in answer] if isinstance(answer, list) else ids.get(answer, answer)
        for name, answer in answers.items()
    }


def _is_file(value: str) -> bool:
    return value[:1] == "@" and Path(value[1:]).is_file()
