"""Fuzz one target: `python -m tests.fuzz.run NAME --seconds 60 --keep FOLDER`.

With atheris the input follows the coverage of Headgate's own code, which is instrumented as it is imported. Without it
(it has wheels for Linux on x86-64) the inputs of the corpus are changed at random. An input that fails is written to
`--keep`, and the exit code is not 0.
"""

import argparse
import hashlib
import random
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
INSTRUMENTED = {
    "broker": ["headgate.sandbox.broker", "headgate.sandbox.workers.answers", "headgate.sandbox.hosts",
               "headgate.foundation.guarded_http.targets"],
    "evidence": ["headgate.features.runs.evidence", "headgate.foundation.signing"],
    "importer": ["headgate.graph", "headgate.features.flows.transfer", "headgate.features.runs.preview"],
    "sealed": ["headgate.features.runs.widget.tokens", "headgate.features.accounts.single_sign_on.transaction",
               "headgate.features.runs.listing.service"],
    "spec": ["headgate.graph"],
    "sse": ["headgate.foundation.sse", "headgate.features.runs.views.stream"],
}  # fmt: skip
"""The code whose coverage leads each target; instrumenting all of it takes a while at each start."""
LONGEST = 16_384
"""Bytes of an input."""
SLOW_SECONDS = 20
MEGABYTES = 3000


def main() -> None:
    """Fuzz until the time is over or something is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, required=True)
    asked = parser.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    # The fuzzer reads the highest memory ever used, and Linux lets a process begin with that of who started it.
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    try:
        atheris = import_module("atheris")
    except ImportError:
        _at_random(_target(asked.target), CORPUS / asked.target, asked.seconds, asked.keep)
        return
    with atheris.instrument_imports(include=INSTRUMENTED[asked.target]):
        target = _target(asked.target)
    folders = [str(asked.keep), str(CORPUS / asked.target)]
    words = CORPUS / f"{asked.target}.dict"
    options = [
        f"-max_total_time={asked.seconds}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOW_SECONDS}",
        f"-rss_limit_mb={inherited + MEGABYTES}",
        f"-artifact_prefix={asked.keep}/",
        *([f"-dict={words}"] if words.exists() else []),
    ]
    atheris.Setup([sys.argv[0], *options, *folders], target)
    atheris.Fuzz()


def _target(name: str) -> Callable[[bytes], None]:
    found: Callable[[bytes], None] = import_module("tests.fuzz.targets").TARGETS[name]
    return found


def _at_random(target: Callable[[bytes], None], corpus: Path, seconds: int, keep: Path) -> None:
    chance, until = random.Random(), time.monotonic() + seconds
    samples = [path.read_bytes() for path in corpus.iterdir()]
    tried = 0
    while time.monotonic() < until:
        content = changed(chance, samples)
        tried += 1
        try:
            target(content)
        except BaseException:
            (keep / f"crash-{hashlib.sha1(content, usedforsecurity=False).hexdigest()}").write_bytes(content)
            raise
    print(f"Done {tried} runs at random")  # noqa: T201


def changed(chance: random.Random, samples: list[bytes]) -> bytes:
    """A sample with pieces removed, doubled, turned or taken from another."""
    content = bytearray(chance.choice(samples))
    for _ in range(chance.randint(1, 8)):
        start = chance.randint(0, len(content))
        end = min(len(content), start + chance.choice((0, 1, 4, 40)))
        other = chance.choice(samples)
        begin = chance.randint(0, len(other))
        content[start:end] = chance.choice(
            (b"", content[start:end] * 2, other[begin : begin + 40], chance.randbytes(2))
        )
    return bytes(content[:LONGEST])


if __name__ == "__main__":
    main()
