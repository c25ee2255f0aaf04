"""Generates documents: starts the document process, sends the text, receives the document, and stops it on timeout."""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from weakref import WeakKeyDictionary

from headgate.sandbox import libraries
from headgate.sandbox.documents.errors import (
    DocumentNotMade,
    DocumentsNotInstalled,
    DocumentTimedOut,
    DocumentTooLarge,
)
from headgate.sandbox.documents.job import MEDIA_TYPES, Job, Made

MOST_MARKDOWN_BYTES = 4_000_000
MOST_IMAGE_BYTES = 40_000_000
MOST_AT_ONCE = 2
"""Maximum concurrent documents; each uses a processor."""
SECONDS = 90.0
NEEDS = ("pypandoc.files", "typst", "manimgx_fonts")
CJK_FONTS = "manimgx_fonts_cjk"
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from headgate.sandbox.documents.child import main; main(sys.argv[2])"
)
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def is_installed() -> bool:
    """Return whether the extra `documents` is installed, without importing it."""
    return find_spec("typst") is not None and find_spec("manimgx_fonts") is not None and _pandoc_is_there()


def require_installed(what: str = "Creating PDF and Word documents") -> None:
    """Raise `DocumentsNotInstalled`, naming what needs the extra, unless it is installed."""
    if not is_installed():
        raise DocumentsNotInstalled(what)


async def make_document(job: Job, *, seconds: float = SECONDS) -> Made:
    """Return the document of a job.

    Raises:
        DocumentsNotInstalled: The extra is not installed.
        DocumentTooLarge: Text or images exceed their limit.
        DocumentNotMade: The text cannot be converted.
        DocumentTimedOut: It took longer than `seconds`.
    """
    require_installed()
    _check_size(job)
    async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_AT_ONCE)):
        scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="headgate-document-"))
        try:
            output = await _run(job, scratch, seconds)
        finally:
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
    head, _, content = output.partition(b"\n")
    header = json.loads(head)
    if "refused" in header:
        raise DocumentNotMade(
            f"The text could not be converted to {job.format}. {header['refused']}", remedy="Simplify it."
        )
    return Made(content, MEDIA_TYPES[job.format], (*header["notes"], *_font_notes(job)))


async def _run(job: Job, scratch: Path, seconds: float) -> bytes:
    source = str(Path(__file__).parents[3])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-X", "utf8", "-c", _BOOT, source, str(scratch),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=libraries.environment() | {"TMPDIR": str(scratch)}, cwd="/", start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            output, complaint = await process.communicate(job.to_json())
    except TimeoutError as error:
        raise DocumentTimedOut(
            f"Creating the {job.format} took more than {seconds:g} seconds and was stopped.",
            remedy="Split the text, or omit its largest tables and images.",
        ) from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # including pandoc
        await process.wait()
    if process.returncode != 0 or b"\n" not in output:
        last = _last_words(complaint.decode(errors="replace"))
        raise DocumentNotMade(
            f"The converter failed on this text ({last or f'exit status {process.returncode}'}).",
            remedy="It is too large, or nested too deep; split or simplify it.",
        )
    return output


def _last_words(complaint: str) -> str:
    """Return the last error output of a crashed process, without Rust's hint about backtraces."""
    lines = [line for line in complaint.strip().splitlines() if not line.startswith("note: ")]
    return lines[-1][:200] if lines else ""


def _check_size(job: Job) -> None:
    size = len(job.markdown.encode(errors="replace"))
    if size > MOST_MARKDOWN_BYTES:
        raise DocumentTooLarge(
            f"The text has {size} bytes; the limit for a document is {MOST_MARKDOWN_BYTES}.", remedy="Split it."
        )
    images = sum(len(content) for content in job.images.values())
    if images > MOST_IMAGE_BYTES:
        raise DocumentTooLarge(
            f"The images have {images} bytes; the limit for a document is {MOST_IMAGE_BYTES}.", remedy="Shrink them."
        )


def _font_notes(job: Job) -> tuple[str, ...]:
    if job.format != "pdf" or find_spec(CJK_FONTS) is not None or not _CJK.search(job.title + job.markdown):
        return ()
    missing = "The text contains Chinese, Japanese or Korean, and no font for it is installed"
    return (f"{missing}: pip install 'headgate[documents-cjk]'.",)


def _pandoc_is_there() -> bool:
    spec = find_spec("pypandoc")
    return spec is not None and spec.origin is not None and (Path(spec.origin).parent / "files" / "pandoc").is_file()
