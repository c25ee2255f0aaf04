"""The stored form of a step's outputs, and reading it.

`{"main": "text", "outputs": {"text": {"type": "Text", "value": "..."}}}`; optional members: `not_taken` (branches),
`file_ids`, `generated_file_ids`, `outside` (origins of untrusted content; see
`headgate.sdk.outside`). A value over the inline limits is an artifact,
and its entry holds `file_id`, `media_type`, `size_bytes`, `preview` and `truncated` instead of `value`. `text`, the
main output as text, is computed on reading and not stored.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.features.runs.errors import OutputTooLarge, RunDamaged
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import RunFiles
from headgate.features.runs.steps.ledger import Outputs
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.transitions import Json
from headgate.foundation.quoting import shortened
from headgate.foundation.settings import LimitSettings
from headgate.graph.ports import PortType
from headgate.sdk.coerce import decode, text_of
from headgate.sdk.outside import Marks, merged

PREVIEW_IN_EVENTS = 400
"""Characters of the main output in the event of a completed step."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A step's outputs, their stored form and a preview."""

    payload: Json
    preview: str
    items: Mapping[str, int]
    """Number of items of each output that is a list."""


class Packer:
    """Converts outputs to the stored payload, with artifacts for values over the limits."""

    def __init__(self, limits: LimitSettings, files: RunFiles) -> None:
        self._limits = limits
        self._files = files

    async def pack(
        self,
        origin: Origin,
        step: PlannedStep,
        outputs: Outputs,
        generated_file_ids: list[str],
        *,
        outside: Marks = (),
    ) -> Packed:
        """Return the payload of a step. Raises `OutputTooLarge`, or what the file storage raises."""
        entries: dict[str, Any] = {}
        main = step.main_output
        previewed = main if main in outputs else next((name for name, _ in step.outputs if name in outputs), "")
        preview = ""
        for name, type_ in step.outputs:
            if name in outputs:
                raw = orjson.dumps(outputs[name])
                # Quotes and escapes only add length, so a short raw form needs no second check.
                if len(raw) <= self._cap(outputs[name]):
                    entries[name] = {"type": type_, "value": orjson.Fragment(raw)}
                else:
                    entries[name] = await self._long_entry(origin, name, type_, value=outputs[name], raw=raw)
                if name == previewed:
                    preview = glimpse(type_, outputs[name], raw)
        payload: dict[str, Any] = {"outputs": entries}
        if main in entries:
            payload["main"] = main
        if len(entries) < len(step.outputs):
            payload["not_taken"] = [name for name, _ in step.outputs if name not in entries]
        ids = _file_ids(step, outputs)
        if ids:
            payload["file_ids"] = ids
        if generated_file_ids:
            payload["generated_file_ids"] = generated_file_ids
        if outside:
            payload["outside"] = outside
        items = {name: len(value) for name, value in outputs.items() if isinstance(value, list)}
        return Packed(orjson.dumps(payload).decode(), preview, items)

    def _cap(self, value: JsonValue) -> int:
        """Return the inline limit in bytes."""
        return self._limits.max_inline_text_bytes if isinstance(value, str) else self._limits.max_inline_json_bytes

    async def _long_entry(
        self, origin: Origin, output: str, type_: PortType, *, value: JsonValue, raw: bytes
    ) -> dict[str, Any]:
        """Return an artifact's entry, or an inline one when only its escapes made it long."""
        is_text = isinstance(value, str)
        content = value.encode() if isinstance(value, str) else raw
        if len(content) <= self._cap(value):
            return {"type": type_, "value": orjson.Fragment(raw)}
        if len(content) > self._limits.max_artifact_bytes:
            raise OutputTooLarge(
                f"Output '{output}' of step '{origin.step_id}' has {len(content)} bytes; the limit is"
                f" {self._limits.max_artifact_bytes}.",
                remedy="Reduce the output, or raise HEADGATE_LIMITS__MAX_ARTIFACT_BYTES.",
            )
        ending, media_type = ("txt", "text/plain; charset=utf-8") if is_text else ("json", "application/json")
        file = await self._files.save(origin, f"{origin.step_id}.{output}.{ending}", content, media_type)
        return {
            "type": type_,
            "file_id": file.id,
            "media_type": media_type,
            "size_bytes": len(content),
            "preview": _beginning(type_, value, content, self._limits.max_inline_preview_bytes),
            "truncated": True,
        }


async def unpack(payload: Json, tenant_id: str, files: RunFiles) -> Outputs:
    """Return the complete outputs of a stored payload, with artifacts read back."""
    values: dict[str, JsonValue] = {}
    for name, entry in orjson.loads(payload)["outputs"].items():
        if "value" in entry:
            values[name] = entry["value"]
        else:
            content = await files.read(tenant_id, entry["file_id"])
            values[name] = content.decode() if entry["type"] == PortType.TEXT else orjson.loads(content)
    return values


def origins_of(payload: Json) -> tuple[Marks, list[str]]:
    """Return the origins of untrusted content in a step's outputs, and the files it created."""
    if '"outside"' not in payload and '"generated_file_ids"' not in payload:
        return (), []
    stored = orjson.loads(payload)
    return outside_of(stored), stored.get("generated_file_ids", [])


def outside_of(payload: Mapping[str, Any] | None) -> Marks:
    """Return the origins of untrusted content in the stored output of a step or run."""
    return tuple(str(name) for name in (payload or {}).get("outside", ()))


@contextmanager
def intact(part: str) -> Iterator[None]:
    """Raise `RunDamaged` when stored JSON is malformed: reading it again would fail forever."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise RunDamaged(part) from error


def main_text(payload: Mapping[str, Any]) -> str | None:
    """Return the main output of a stored payload as text: an artifact's preview, a file's name. None if missing.

    Raises `RunDamaged`.
    """
    with intact("the output of a step"):
        return _main_text(payload)


def _main_text(payload: Mapping[str, Any]) -> str | None:
    entry = payload["outputs"].get(payload.get("main", ""))
    if entry is None:
        return None
    if "value" not in entry:
        return str(entry["preview"])
    if entry["type"] == PortType.FILE:
        return str(entry["value"]["name"])
    return text_of(decode(entry["value"], PortType(entry["type"])))


def presented(payload: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a stored payload for the API: always with `text` and `file_ids`."""
    if payload is None:
        return None
    return {"text": main_text(payload), "file_ids": [], **payload}


def run_output(payloads: Mapping[str, Json], limits: LimitSettings) -> Json:
    """Return the run's result from the payloads of its last steps: the last text, and all file ids."""
    text: str | None = None
    truncated = False
    file_ids: list[str] = []
    texts: list[str] = []
    outside: Marks = ()
    for step_id, stored in payloads.items():
        payload = orjson.loads(stored)
        main = main_text(payload)
        outside = merged(outside, outside_of(payload))
        if main is not None:
            text = main
            truncated = payload["outputs"][payload["main"]].get("truncated", False)
            texts = [step_id]
        file_ids += [file_id for file_id in payload.get("file_ids", ()) if file_id not in file_ids]
    cut = (text or "").encode()[: limits.max_inline_preview_bytes].decode(errors="ignore")
    output: dict[str, JsonValue] = {"text": cut if text is not None else None, "step_ids": list(texts)}
    if file_ids:
        output["file_ids"] = list(file_ids)
    if text is not None and (truncated or len(cut) < len(text)):
        output["truncated"] = True
    if outside:
        output["outside"] = list(outside)
    return orjson.dumps(output).decode()


def _beginning(type_: PortType, value: JsonValue, content: bytes, limit: int) -> str:
    """Return the beginning of an artifact; of a message its text."""
    if type_ is PortType.MESSAGE and isinstance(value, dict):
        content = str(value["text"]).encode()
    return content[:limit].decode(errors="ignore")


def glimpse(type_: PortType, value: JsonValue, raw: bytes) -> str:
    """Return a preview of an output, marked where it is truncated: of a message its text, of a file its name."""
    if isinstance(value, dict):
        value = value.get({PortType.MESSAGE: "text", PortType.FILE: "name"}.get(type_, ""))
    if isinstance(value, str):
        return shortened(value, PREVIEW_IN_EVENTS)
    return shortened(raw[: 4 * PREVIEW_IN_EVENTS + 4].decode(errors="ignore"), PREVIEW_IN_EVENTS)


def _file_ids(step: PlannedStep, outputs: Outputs) -> list[str]:
    """Return the ids of files in the outputs: of a File, or of a Message's attachments."""
    ids: list[str] = []
    for name, type_ in step.outputs:
        value = outputs.get(name)
        if not isinstance(value, dict):
            continue
        if type_ is PortType.FILE:
            ids.append(str(value["id"]))
        elif type_ is PortType.MESSAGE:
            files = value["files"]
            ids += [str(file["id"]) for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return list(dict.fromkeys(ids))
