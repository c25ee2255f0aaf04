"""Workspaces for tests: whose they are, and what is on the disk."""

import hashlib
import hmac
from pathlib import Path

from headgate.features.access.principal import DEFAULT_TENANT_ID, Access, Principal
from headgate.features.workspace.places import Owner
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.settings import Settings

ALICE = Owner(DEFAULT_TENANT_ID, "user-alice")
BOB = Owner(DEFAULT_TENANT_ID, "user-bob")
NOBODY = Owner(DEFAULT_TENANT_ID, "")


def settings_in(folder: Path, *, auto_login: bool = True, **limits: int) -> Settings:
    """Settings whose workspaces are below a folder."""
    return Settings.model_validate(
        {
            "data_dir": folder,
            "workspace": {"base_dir": folder / "base", **limits},
            "server": {"auto_login": auto_login},
        }
    )


def workspace_in(folder: Path, *, auto_login: bool = True, **limits: int) -> Workspace:
    """The workspaces below a folder."""
    return Workspace(settings_in(folder, auto_login=auto_login, **limits))


def person(owner: Owner) -> Principal:
    """Somebody who asks, with no roles."""
    return Principal(tenant_id=owner.tenant_id, user_id=owner.user_id, space_id="", access=Access())


def namespace(base: Path, owner: Owner) -> str:
    """The name of somebody's folder, by the rule and not by the code under test."""
    pepper = (base / ".fs_pepper").read_bytes()
    return hmac.new(pepper, f"{owner.tenant_id}\0{owner.user_id}".encode(), hashlib.sha256).hexdigest()[:32]


def home(base: Path, owner: Owner) -> Path:
    """Somebody's folder on the disk."""
    return base / "users" / namespace(base, owner)


def everything(folder: Path) -> list[str]:
    """Every file below a folder but the pepper and the notes of usage, by its path."""
    ours = {".fs_pepper", ".usage"}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and ours.isdisjoint({path.name, path.parent.name})
    )


def was_touched(folder: Path) -> bool:
    """Whether anything was made at a place."""
    return folder.exists()
