"""A real OpenID Connect provider in a process of its own: the certified npm package oidc-provider, under Node.js.

`python -m tests.support.openid_provider` installs it, from a lockfile that holds the digest of every package.
"""

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "oidc_provider"
NODE = Path(sys.executable).with_name("node")
NPM = Path(sys.executable).with_name("npm")
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


@dataclass(frozen=True, slots=True)
class OpenIdProvider:
    """A provider that listens."""

    issuer: str


def install() -> None:
    """Put the provider's packages in place, once, however many processes ask for it."""
    wanted = (FOLDER / "package-lock.json").read_bytes()
    mark = FOLDER / "node_modules" / ".installed"
    with (FOLDER / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists() or mark.read_bytes() != wanted:
            subprocess.run([NPM, *INSTALL], cwd=FOLDER, check=True, timeout=100)
            mark.write_bytes(wanted)


@contextmanager
def openid_provider(
    clients: list[dict[str, Any]], accounts: Mapping[str, Mapping[str, Any]], *, claims_in_id_token: bool = False
) -> Iterator[OpenIdProvider]:
    """A provider that knows these clients, and these people by what they type as their name. It takes any password."""
    install()
    process = subprocess.Popen(
        [NODE, "provider.mjs"],
        cwd=FOLDER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    told = {"clients": clients, "accounts": accounts, "claimsInIdToken": claims_in_id_token}
    try:
        process.stdin.write(json.dumps(told) + "\n")
        process.stdin.flush()
        issuer = process.stdout.readline().strip()
        assert issuer, "the provider did not start"
        yield OpenIdProvider(issuer)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(10)


if __name__ == "__main__":
    install()
