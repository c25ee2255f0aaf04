"""Downloads weights: selects a source, resumes, verifies, and only then moves the file into place."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from headgate.features.models.errors import PullFailed
from headgate.features.models.local import conversion
from headgate.features.models.local.lock import exclusive
from headgate.features.models.local.sources import Progress, Source
from headgate.features.models.local.store import (
    LocalModel,
    check_gguf,
    list_local,
    partial_path,
    require_space,
)
from headgate.features.models.local.weights import Weights, find_weights
from headgate.foundation.errors import Unavailable

_BLOCK = 1 << 22


def pull(
    name: str,
    models_dir: Path,
    *,
    progress: Progress = lambda _done, _total: None,
    report: Callable[[str], None] = lambda _line: None,
    sources: Sequence[Source],
) -> LocalModel:
    """Download the weights with that name. Blocks for minutes: call it in a separate thread.

    Args:
        name: Name in the table of weights.
        models_dir: Folder of local models; made when missing.
        progress: Called with bytes done and bytes in all. An exception from it stops the pull; the next one continues.
        report: Called with one line for each thing worth saying.
        sources: Where to look, in order.

    Raises:
        LocalModelMissing: No weights of that name.
        Unavailable: The disk is short of space or full, or another pull of it is under way.
        PullFailed: No source had the right bytes.
    """
    weights = find_weights(name)
    target = models_dir / weights.file_name
    if target.is_file():
        report(f"{name} is already downloaded: {target}")
        return _ready(models_dir, name)
    partial = partial_path(models_dir, name)
    try:
        models_dir.mkdir(parents=True, exist_ok=True)
        with exclusive(partial.with_suffix(".lock"), what=f"pull of {name}"):
            already = partial.stat().st_size if partial.exists() else 0
            require_space(models_dir, weights.size - already)
            for download in weights.downloads:
                _fetch_verified(download, partial_path(models_dir, download.name), sources, progress, report)
            if weights.vocabulary is None:
                check_gguf(partial)
                partial.replace(target)
            else:
                report("Converting to GGUF.")
                vocabulary = partial_path(models_dir, weights.vocabulary.name)
                conversion.convert(partial, vocabulary, target, weights.label)
                for file in (partial, vocabulary):
                    file.unlink()
    except OSError as error:
        raise Unavailable(
            f"{name} could not be written to {models_dir}: {error.strerror or error}.",
            remedy="Free some space or choose another folder, then pull again: the download continues.",
        ) from error
    report(f"{name} is ready: {target}")
    return _ready(models_dir, name)


def _fetch_verified(
    weights: Weights, partial: Path, sources: Sequence[Source], progress: Progress, report: Callable[[str], None]
) -> None:
    reasons: list[str] = []
    for number, source in enumerate(sources):
        if partial.exists() and partial.stat().st_size:
            report(f"Continuing with {partial.stat().st_size / 1000000.0:.0f} MB that are already downloaded.")
        report(f"Downloading {weights.label} ({_amount(weights.size)}) from {source.label}.")
        try:
            source.fetch(weights, partial, progress)
            _verify(weights, partial, report)
        except PullFailed as error:
            reasons.append(f"{source.label}: {error.detail}")
            following = sources[number + 1].label if number + 1 < len(sources) else ""
            report(f"{error.detail} " + (f"Trying {following} instead." if following else ""))
        else:
            return
    raise PullFailed(
        f"{weights.name} could not be downloaded. {' '.join(reasons)}",
        remedy=(
            "Check the network and pull again: the download continues. To use a file you have: "
            "`headgate models use FILE NAME`."
        ),
    )


def _verify(weights: Weights, partial: Path, report: Callable[[str], None]) -> None:
    report("Verifying SHA-256.")
    digest = hashlib.sha256()
    with partial.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != weights.sha256:
        partial.unlink()  # wrong bytes cannot be distinguished from right ones
        raise PullFailed(f"The downloaded file is not {weights.name}: its SHA-256 differs.")


def _amount(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _ready(models_dir: Path, name: str) -> LocalModel:
    return next(model for model in list_local(models_dir) if model.name == name)
