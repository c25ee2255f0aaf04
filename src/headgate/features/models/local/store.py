"""The folder of local models: what is there, where a file goes, and adding one you have."""

import os
import re
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from headgate.features.models.errors import BadModelFile, LocalModelMissing
from headgate.features.models.local.weights import WEIGHTS, Use
from headgate.foundation.errors import Unavailable
from headgate.foundation.user_folders import user_cache_folder
from headgate.graph.names import nearest

GGUF_MAGIC = b"GGUF"
_SMALLEST = 1024
"""Bytes under which a file cannot hold a model."""
_ARCHITECTURE = re.compile(rb"general\.architecture\x08\0\0\0(.{8})", re.DOTALL)
"""The first entry of a GGUF file, whose value is a text: type 8, its length in 8 bytes, its characters."""
_EMBEDS = re.compile(r"bert|^t5encoder$|embedding")
"""Architectures of models that embed texts, as llama.cpp names them."""
_POOLING = re.compile(rb"\.pooling_type\x04\0\0\0(.{4})", re.DOTALL)
"""The entry that says how a model pools; it is of type 4, a number of 4 bytes."""
_RANK = 4
"""Pooling into one score, as rerank models do."""
_HEAD = re.compile(rb"\x11\0\0\0\0\0\0\0cls\.output\.weight|\x0a\0\0\0\0\0\0\0cls\.weight")
"""Names of the tensors that score, which older files of rerank models have without that entry."""
_HEAD_WITHIN = 32_000_000
"""Bytes of a file that contain the vocabulary and the names of its tensors."""
_NAME = re.compile(r"^[a-z0-9][a-z0-9._-]{0,99}$")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model on this machine, or one that can be downloaded."""

    name: str
    label: str
    size: int
    """Bytes."""
    path: Path | None
    """Its file; None when it has not been downloaded."""
    licence: str = ""
    partial: int = 0
    """Bytes already there of a pull that was interrupted."""
    use: Use = "chat"

    @property
    def ready(self) -> bool:
        """Whether it can be used now."""
        return self.path is not None


def default_models_dir() -> Path:
    """Return the default model folder: the user's cache folder, since models can be downloaded again."""
    return user_cache_folder() / "models"


def list_local(models_dir: Path) -> list[LocalModel]:
    """Return downloadable models, present or not, then those added from files."""
    known = [
        LocalModel(
            name=weights.name,
            label=weights.label,
            size=weights.size,
            path=_present(models_dir / weights.file_name),
            licence=weights.licence,
            partial=_size(partial_path(models_dir, weights.name)),
            use=weights.use,
        )
        for weights in WEIGHTS.values()
    ]
    files = sorted(models_dir.glob("*.gguf")) if models_dir.is_dir() else []
    added = [
        LocalModel(name=path.stem, label=path.stem, size=_size(path), path=path, use=use_of(path))
        for path in files
        if path.stem not in WEIGHTS and path.is_file()
    ]
    return known + added


def find_local(models_dir: Path, name: str) -> Path:
    """Return the file of a model that is ready. Raises `LocalModelMissing` with instructions."""
    models = list_local(models_dir)
    path = next((model.path for model in models if model.name == name), None)
    if path is not None:
        return path
    if name in WEIGHTS:
        remedy = f"Download it with: headgate models pull {name} ({WEIGHTS[name].size / 1000000000.0:.1f} GB)"
    else:
        close = nearest(name, [model.name for model in models])
        remedy = f"Did you mean '{close}'?" if close else "See: headgate models local"
    raise LocalModelMissing(f"The local model '{name}' is not installed on this machine.", remedy=remedy)


def use_file(models_dir: Path, path: Path, name: str) -> LocalModel:
    """Make a GGUF file available under a name. The file is linked where the system allows, else copied.

    Raises `BadModelFile` when it is no GGUF file or the name will not do, `Unavailable` when the disk is full.
    """
    if not _NAME.match(name) or name in WEIGHTS:
        why = (
            "belongs to a model that can be pulled"
            if name in WEIGHTS
            else ("may contain a-z, 0-9, '.', '_' and '-' only")
        )
        raise BadModelFile(f"'{name}' is not a valid name of a local model: it {why}.", remedy="Choose another name.")
    check_gguf(path)
    models_dir.mkdir(parents=True, exist_ok=True)
    target = models_dir / f"{name}.gguf"
    arriving = target.with_suffix(".arriving")
    arriving.unlink(missing_ok=True)
    try:
        os.link(path.resolve(), arriving)
    except OSError:  # another file system, or one without hard links
        require_space(models_dir, path.stat().st_size)
        try:
            shutil.copyfile(path, arriving)
        except OSError as error:
            arriving.unlink(missing_ok=True)
            raise Unavailable(f"{path} could not be copied to {models_dir}: {error.strerror}.") from error
    arriving.replace(target)
    return LocalModel(name=name, label=name, size=_size(target), path=target, use=use_of(target))


def check_gguf(path: Path) -> None:
    """Raise `BadModelFile` unless the file exists and starts as GGUF files do."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise BadModelFile(
            f"{path} cannot be read: {error.strerror}.", remedy="Give the path of a .gguf file."
        ) from error
    if magic != GGUF_MAGIC or _size(path) < _SMALLEST:
        raise BadModelFile(f"{path} is not a GGUF file.", remedy="Convert the model to GGUF, or pull one by name.")


def use_of(path: Path) -> Use:
    """Return what the model in a GGUF file is for; a file that cannot be read is for chats."""
    try:
        state = path.stat()
        return _use_of(path, state.st_size, state.st_mtime_ns)
    except OSError:
        return "chat"


@lru_cache(maxsize=64)
def _use_of(path: Path, _size: int, _changed_at: int) -> Use:
    """Return what a state of a file is for. Kept, since every request asks, and up to 32 MB are read."""
    with path.open("rb") as file:
        head = file.read(65_536)
        entry, pooling = _ARCHITECTURE.search(head), _POOLING.search(head)
        if entry is None:
            return "chat"
        if pooling is not None and int.from_bytes(pooling[1], "little") == _RANK:
            return "rerank"
        name = head[entry.end() : entry.end() + int.from_bytes(entry[1], "little")].decode(errors="replace")
        if not _EMBEDS.search(name):
            return "chat"
        return "rerank" if _HEAD.search(head + file.read(_HEAD_WITHIN)) else "embedding"


def require_space(folder: Path, needed: int) -> None:
    """Raise `Unavailable` when a folder's disk lacks space for `needed` more bytes and a reserve."""
    spare = 200_000_000
    free = shutil.disk_usage(folder).free
    if free < needed + spare:
        raise Unavailable(
            f"{folder} has {free / 1e9:.1f} GB free; {(needed + spare) / 1e9:.1f} GB are needed.",
            remedy="Free some space, or choose another folder for models.",
            needed_bytes=needed + spare,
            free_bytes=free,
        )


def partial_path(models_dir: Path, name: str) -> Path:
    """Return where a pull collects its bytes until they are complete and verified."""
    return models_dir / f".{name}.partial"


def _present(path: Path) -> Path | None:
    return path if path.is_file() else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
