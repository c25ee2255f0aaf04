"""Wheel and source distribution carry the studio's page. A checkout builds it; a source distribution has it."""

import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = Path("src/headgate/entrypoints/http/studio/built/index.html")
NO_PAGE = "The studio's page is missing, and a wheel carries it. Run `make page` in a checkout first."
NOT_BUILT = """The studio's page could not be built.
Building it needs bash, Node.js 22.12 or newer with npm, and the packages of web/package-lock.json. Where the machine
has no Node.js, it is installed from PyPI; without a network, install it first. Wheels and source distributions need
none of this.
{reason}"""


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page where its sources changed. For a checkout in use (`editable`), `make page` does."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own signature
        """Build the page of a checkout; refuse to package without one."""
        top = Path(self.root)
        if version == "editable":
            return
        if (top / "web" / "package.json").is_file() and not (top / "PKG-INFO").is_file():
            build_page(top)
        if not (top / PAGE).is_file():
            raise RuntimeError(NO_PAGE)


def build_page(top: Path) -> None:
    """Run `scripts/build-page`, which does nothing where the page is current."""
    try:
        result = subprocess.run([top / "scripts" / "build-page"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise RuntimeError(NOT_BUILT.format(reason=error)) from error
    if result.returncode:
        raise RuntimeError(NOT_BUILT.format(reason=result.stderr.strip()[-2000:]))
