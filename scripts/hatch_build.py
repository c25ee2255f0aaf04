"""The wheel carries the studio's page, and refuses to be built without it."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PAGE = Path("src/headgate/entrypoints/http/studio/built/index.html")


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Looks before a wheel is built; an installation of a checkout (`editable`) builds its page with `make page`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own signature
        """Refuse where the page is missing."""
        if version != "editable" and not (Path(self.root) / PAGE).is_file():
            raise RuntimeError("The studio's page is not built, and a wheel carries it. Run `make page` first.")
