"""Who decrypts: every call is listed with the reason why its reads are in the audit log, or why it reads no secret."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import tree

pytestmark = pytest.mark.xdist_group("source")

SOURCE = Path(__file__).parents[2] / "src" / "headgate"
WRITTEN_FIRST = "writes the read down before it decrypts"
SERVER_ACCESS = "what is stored with a server; who uses the values writes the read down: "
OWN_STATE = "Headgate's own state, no secret that a user stored: "

DECRYPTING = {
    "features.secrets.service.reveal": WRITTEN_FIRST,
    "features.secrets.service.checked_value": "returns the value of no secret but a provider's address",
    "features.models.setup.sealed.unseal": SERVER_ACCESS + "SpaceModels.access, or a change, which is audited itself",
    "features.mcptools.target.unseal": SERVER_ACCESS + "Target.filled, or a change, which is audited itself",
    "features.connections.sealed.unseal": SERVER_ACCESS + "opening.Connections, or a change, which is audited itself",
    "features.alerts.sending._post": OWN_STATE + "the address of a webhook, to send a notice there",
    "features.connections.oauth.provider.unseal": OWN_STATE + "tokens, whose use opening.Connections writes down",
    "features.connections.oauth.authorizing._opened": OWN_STATE + "an authorization that is under way",
    "features.keyring.rotation._replaced": "encrypts it again at once; the rotation is audited",
    "features.flows.state.sealed.unseal": OWN_STATE + "values that a flow keeps between its runs",
    "features.runs.approvals.notices._attempt": OWN_STATE + "the address of a one-time link, to send it",
    "features.runs.approvals.notices.add_link_notice": OWN_STATE + "the language of the notices before it",
    "features.runs.approvals.sealed.unseal": OWN_STATE + "what users decide on, and their responses",
    "features.runs.sent_events.sealed.unseal": OWN_STATE + "data of events that runs wait for",
    "features.triggers.sealed.unseal": OWN_STATE + "the secret of an address, and the input of occurrences that wait",
    "features.runs.deliveries.target.open_target": OWN_STATE + "an address and references to secrets",
    "features.runs.steps.calls._opened": OWN_STATE + "the stored answer to a request of a step",
    "features.runs.widget.tokens.unseal": OWN_STATE + "a token that a page holds",
    "features.accounts.single_sign_on.transaction.unseal": OWN_STATE + "a sign-in that is under way",
    "features.accounts.second_factor.proof.claim": OWN_STATE + "compared with a code of a sign-in, which is audited",
    "agents.codev.writing.snapshots.open_held": OWN_STATE + "a flow as it was before a change",
    "agents.codev.writing.snapshots.open_change": OWN_STATE + "a change to a flow",
    "features.encryption.keys._unwrapped": OWN_STATE + "the key of an organisation's content",
    "foundation.sealing.opened": OWN_STATE + "content of files and conversations",
    "foundation.sealing.opened_file": OWN_STATE + "content of files",
    "foundation.crypto.decrypt": "the function itself",
    "foundation.crypto._decrypt_unnamed": "the function itself",
    "entrypoints.backups.sealing._next": "a backup, with the passphrase of whoever restores it",
    "components.readers.pdf.read_pdf": "a PDF file's own encryption",
}
OPENING = {
    "features.mcptools.service.target_of",
    "features.models.setup.sealed.references_of",
    "features.models.setup.service._sealed",
    "features.models.setup.space.access",
    "features.connections.opening._secrets",
    "features.connections.service.update_connection",
    "features.connections.oauth.tokens._opened",
}
"""Functions that open what is stored with a server."""
AUDITS = {
    "features.secrets.reads.SecretReadLog": "writes an entry",
    "features.secrets.reads._NoReads": "refuses",
    "features.runs.secret_reads.service.SecretReads": "writes an entry",
    "features.runs.secret_reads.service.WrittenDown": "accepts only what this run's entries name",
}
_SEALED = ("features.models.setup", "features.mcptools", "features.connections")


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        yield name, tree(path)


def functions_that(call: str, within: tuple[str, ...] = ("",)) -> set[str]:
    """Every function that calls something of that name."""
    found = set()
    for name, module in modules():
        if not name.startswith(within):
            continue
        for function in ast.walk(module):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                isinstance(node, ast.Call) and _called(node.func) == call for node in ast.walk(function)
            ):
                found.add(f"{name}.{function.name}")
    return found


def _called(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


class TestDecrypting:
    def test_every_call_is_known(self) -> None:
        """A new one goes through `secrets.service.reveal`, or is listed here with its reason."""
        assert functions_that("decrypt") == set(DECRYPTING)

    def test_what_is_stored_with_a_server_is_opened_where_it_is_written_down(self) -> None:
        assert functions_that("unseal", _SEALED) == OPENING

    def test_a_secret_is_written_down_before_it_is_decrypted(self) -> None:
        module = next(module for name, module in modules() if name == "features.secrets.service")
        (reveal,) = [node for node in module.body if getattr(node, "name", "") == "reveal"]
        calls = sorted((node.lineno, _called(node.func)) for node in ast.walk(reveal) if isinstance(node, ast.Call))
        names = [name for _, name in calls if name in {"note", "decrypt"}]
        assert names == ["decrypt", "note", "decrypt"]  # the first is of a variable that is no secret


class TestAudits:
    def test_every_kind_is_known(self) -> None:
        """Where reads of secrets are recorded."""
        kinds = {
            f"{name}.{node.name}"
            for name, module in modules()
            for node in ast.walk(module)
            if isinstance(node, ast.ClassDef)
            and {"Protocol"}.isdisjoint(_called(base) for base in node.bases)
            and any(isinstance(one, ast.AsyncFunctionDef) and one.name == "note" for one in node.body)
        }
        assert kinds - set(AUDITS) == {
            "features.secrets.lookup.Variables",  # hands on
            "features.secrets.reads._Reads",  # hands on to `SecretReadLog`
            "entrypoints.adapters.SpaceSecrets",  # hands on
        }

    def test_variables_cannot_be_opened_without_one(self) -> None:
        module = next(module for name, module in modules() if name == "features.secrets.lookup")
        (variables,) = [node for node in module.body if getattr(node, "name", "") == "Variables"]
        (made,) = [node for node in ast.walk(variables) if getattr(node, "name", "") == "__init__"]
        assert isinstance(made, ast.FunctionDef)
        defaults = dict(zip((one.arg for one in made.args.kwonlyargs), made.args.kw_defaults, strict=True))
        assert defaults["audit"] is None  # no default
        assert ast.unparse(made.args.kwonlyargs[list(defaults).index("audit")].annotation or made) == "ReadAudit"
