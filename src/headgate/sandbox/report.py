"""Isolation layers of this system, for `headgate doctor` and for a pool before its first worker."""

import os
import platform
import sys
from dataclasses import dataclass

from headgate.sandbox.errors import SandboxUnavailable
from headgate.sandbox.guest import kernel
from headgate.sandbox.guest.syscalls import ARCHITECTURES

INSECURE = "or, on a machine where every author of flows is trusted, set HEADGATE_SANDBOX__INSECURE=true"
CONTAINER = "In a container, use a runtime whose seccomp profile allows it (Docker 23 or later does)"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of isolation."""

    name: str
    present: bool
    detail: str
    """Details for users."""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The isolation layers of this system. Custom code runs only when all are present, unless the operator opts out."""

    layers: tuple[Layer, ...]

    @property
    def complete(self) -> bool:
        """Whether all layers are present."""
        return not self.missing

    @property
    def missing(self) -> tuple[Layer, ...]:
        """The missing layers."""
        return tuple(layer for layer in self.layers if not layer.present)

    def require(self) -> None:
        """Raise `SandboxUnavailable` with the missing layers and a remedy."""
        if self.missing:
            names = ", ".join(f"{layer.name} ({layer.detail})" for layer in self.missing)
            remedies = " ".join(dict.fromkeys(layer.remedy for layer in self.missing))
            raise SandboxUnavailable(
                f"Custom code in a node cannot be isolated on this system; missing: {names}.",
                remedy=f"{remedies}; {INSECURE}.",
                missing=[layer.name for layer in self.missing],
            )


def probe() -> SandboxReport:
    """Detect the layers of this system. Changes nothing, takes well under a millisecond."""
    system, machine = platform.system(), platform.machine()
    layers = [
        Layer("linux", system == "Linux", f"this is {system}", "Run Headgate on Linux (in a container or machine)"),
        Layer(
            "architecture",
            machine in ARCHITECTURES,
            f"{machine}; known are {' and '.join(ARCHITECTURES)}",
            "Run Headgate on an x86_64 or arm64 machine",
        ),
    ]
    return SandboxReport((*layers, _landlock(), _seccomp(), _user()))


def _landlock() -> Layer:
    version = kernel.landlock_abi()
    return Layer(
        "landlock",
        version >= 1,
        f"version {version}" if version else "the kernel does not provide it to this process",
        f"Use Linux 5.13 or later with Landlock enabled (lsm=landlock,... at boot). {CONTAINER}",
    )


def _seccomp() -> Layer:
    present = sys.platform == "linux" and kernel.seccomp_available()
    return Layer(
        "seccomp",
        present,
        "filters can be installed" if present else "the kernel does not provide filters to this process",
        f"Use a kernel built with CONFIG_SECCOMP_FILTER. {CONTAINER}",
    )


def _user() -> Layer:
    """Check the user layer: as root, workers get their own users; as an ordinary user, they keep the server's."""
    name = "own user"
    if sys.platform != "linux" or os.geteuid() != 0:
        return Layer(name, present=True, detail="not root: workers share the server's user, without capabilities")
    return Layer(
        name,
        kernel.can_change_user(),
        "root: each worker runs as a separate user",
        (
            "Run Headgate as an unprivileged user, or give the container the capabilities CHOWN, DAC_OVERRIDE, "
            "FOWNER, KILL, SETGID and SETUID"
        ),
    )
