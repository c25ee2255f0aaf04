"""Makes documents: starts the document process, gives it the text, waits for the document, ends it when it is late."""

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
"""Documents made at the same time; each takes a processor."""
SECONDS = 90.0
NEEDS = ("pypandoc.files", "typst", "manimgx_fonts")
CJK_FONTS = "manimgx_fonts_cjk"
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from headgate.sandbox.documents.child import main; main(sys.argv[2])"
)
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def is_installed() -> bool:
    """Whether the extra `documents` is there, found without importing it."""
    return find_spec("typst") is not None and find_spec("manimgx_fonts") is not None and _pandoc_is_there()


def require_installed(what: str = "Making PDF and Word documents") -> None:
    """Raise `DocumentsNotInstalled`, saying what needs it, unless the extra is there."""
    if not is_installed():
        raise DocumentsNotInstalled(what)


async def make_document(job: Job, *, seconds: float = SECONDS) -> Made:
    """The document of a job.

    Raises:
        DocumentsNotInstalled: The extra is not there.
        DocumentTooLarge: Text or images are over their limit.
        DocumentNotMade: The text cannot be set.
        DocumentTimedOut: It took longer than `seconds`.
    """
    require_installed()
    _check_size(job)
    async with _turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_AT_ONCE)):
        scratch = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="headgate-document-"))
        try:
            answer = await _run(job, scratch, seconds)
        finally:
            await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
    head, _, content = answer.partition(b"\n")
    said = json.loads(head)
    if "refused" in said:
        raise DocumentNotMade(f"The text could not become a {job.format}. {said['refused']}", remedy="Simplify it.")
    return Made(content, MEDIA_TYPES[job.format], (*said["notes"], *_font_notes(job)))


async def _run(job: Job, scratch: Path, seconds: float) -> bytes:
    source = str(Path(__file__).parents[3])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-X", "utf8", "-c", _BOOT, source, str(scratch),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=libraries.environment() | {"TMPDIR": str(scratch)}, cwd="/", start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            answer, complaint = await process.communicate(job.to_json())
    except TimeoutError as error:
        raise DocumentTimedOut(
            f"Making the {job.format} took more than {seconds:g} seconds and was stopped.",
            remedy="Split the text, or leave out its largest tables and images.",
        ) from error
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # pandoc with it
        await process.wait()
    if process.returncode != 0 or b"\n" not in answer:
        last = _last_words(complaint.decode(errors="replace"))
        raise DocumentNotMade(
            f"The converter stopped on this text ({last or f'exit status {process.returncode}'}).",
            remedy="It is too large, or nested too deep; split or simplify it.",
        )
    return answer


def _last_words(complaint: str) -> str:
    """What a process that died said last; Rust adds how to see more of it."""
    said = [line for line in complaint.strip().splitlines() if not line.startswith("note: ")]
    return said[-1][:200] if said else ""


def _check_size(job: Job) -> None:
    size = len(job.markdown.encode(errors="replace"))
    if size > MOST_MARKDOWN_BYTES:
        raise DocumentTooLarge(
            f"The text has {size} bytes; a document is made of at most {MOST_MARKDOWN_BYTES}.", remedy="Split it."
        )
    images = sum(len(content) for content in job.images.values())
    if images > MOST_IMAGE_BYTES:
        raise DocumentTooLarge(
            f"The images have {images} bytes; a document holds at most {MOST_IMAGE_BYTES}.", remedy="Shrink them."
        )


def _font_notes(job: Job) -> tuple[str, ...]:
    if job.format != "pdf" or find_spec(CJK_FONTS) is not None or not _CJK.search(job.title + job.markdown):
        return ()
    missing = "The text holds Chinese, Japanese or Korean, and no font for it is installed"
    return (f"{missing}: pip install 'headgate[documents-cjk]'.",)


def _pandoc_is_there() -> bool:
    found = find_spec("pypandoc")
    return found is not None and found.origin is not None and (Path(found.origin).parent / "files" / "pandoc").is_file()
