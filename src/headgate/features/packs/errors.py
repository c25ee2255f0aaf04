"""Errors of packs."""

from collections.abc import Sequence

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound
from headgate.graph.names import listed


class BadPack(Invalid):
    """The archive is not a pack, or its content is invalid."""

    code = "bad_pack"
    title = "Invalid pack"

    def __init__(self, reason: str, *, remedy: str = "Ask the author for a correct archive.") -> None:
        super().__init__(f"The pack cannot be used: {reason}.", remedy=remedy)


class PackNotTrusted(Forbidden):
    """The pack is unsigned, or its signing key is not trusted."""

    code = "pack_not_trusted"


class NotPackOperator(Forbidden):
    """Packs belong to the installation, not to an organisation."""

    code = "not_pack_operator"
    title = "Not an admin of the installation"
    detail = "Packs belong to the installation, which admins of its first organisation manage."
    remedy = "Ask one of them, or the operator of the server."


class PackNotFound(NotFound):
    """No pack of that name is installed."""

    code = "pack_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"No pack '{name[:60]}' is installed.", remedy="List the packs: headgate packs list.")


class PackInstalled(Conflict):
    """The pack is already installed, or a newer version of it."""

    code = "pack_installed"
    title = "Pack already installed"


class PackNameTaken(Conflict):
    """A name of the pack belongs to another pack or to Headgate."""

    code = "pack_name_taken"
    title = "Name already taken"
    remedy = "Remove the other pack, or ask the author for other names."

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"These names of the pack are already taken: {listed(list(names))}.")


class PackInUse(Conflict):
    """Flows use the pack."""

    code = "pack_in_use"


class PackBreaksFlows(Conflict):
    """Flows would not be ready with the new version."""

    code = "pack_breaks_flows"
    title = "Upgrade breaks flows"


class SignerNotFound(NotFound):
    """No such signing key is trusted."""

    code = "pack_signer_not_found"
    title = "Signing key not found"

    def __init__(self, key_id: str) -> None:
        super().__init__(f"The key '{key_id[:40]}' is not trusted.", remedy="List the keys: headgate packs signers.")
