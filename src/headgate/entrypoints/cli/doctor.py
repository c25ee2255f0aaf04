"""`headgate doctor`."""

import asyncio
import os
import platform
import shutil
import socket
import stat
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from ssl import create_default_context

import typer
from pydantic import SecretStr
from rich.markup import escape

from headgate import __version__
from headgate.entrypoints.access_control import is_locked
from headgate.entrypoints.cli.exit_codes import OK, UNAVAILABLE
from headgate.entrypoints.cli.exposure import exposures, refuse_exposure
from headgate.entrypoints.cli.findings import Finding, backup_finding, is_migrated, programs_finding
from headgate.entrypoints.cli.output import JsonFlag, console, print_json, when
from headgate.entrypoints.cli.session import acting, operator, with_installation
from headgate.entrypoints.compose import open_parts
from headgate.entrypoints.installation import Installation
from headgate.entrypoints.readiness import Readiness, check_readiness
from headgate.features.access.principal import LOCAL
from headgate.features.accounts.single_sign_on.sign_on import single_sign_on
from headgate.features.catalog.installed import installed_components
from headgate.features.encryption.service import Encryption, encryption_of
from headgate.features.models import readiness
from headgate.features.models.local.models import LocalModels
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, moment
from headgate.foundation.database.migrate import HEAD, current
from headgate.foundation.errors import HeadgateError, Invalid, Unavailable
from headgate.foundation.guarded_http import AddressPolicy
from headgate.foundation.guarded_http.checked_socket import probe_proxy
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.keyring import new_ring
from headgate.foundation.private_files import EVIDENCE_KEY_FILE, KEY_FILE, data_folder, is_private
from headgate.foundation.settings import Settings
from headgate.foundation.settings.unknown import NO_SETTING, unknown_variables
from headgate.sandbox.hosts import read_pattern
from headgate.sandbox.report import probe

app = typer.Typer(add_completion=False)
LEAST_FREE_BYTES = 500_000_000


@app.command()
def doctor(json: JsonFlag = False) -> int:
    """Check this installation and report problems. Exit code 5 if a required part has a problem."""
    settings = Settings()
    checks: tuple[Callable[[Settings], list[Finding]], ...] = (
        _system,
        _settings,
        _folder,
        _secret_key,
        _evidence_key,
        _database,
        _encryption,
        backup_finding,
        _engine,
        _installed_components,
        _sandbox,
        _sandbox_network,
        programs_finding,
        _port,
        _sign_in,
        _outgoing_proxy,
        _single_sign_on,
        _models,
    )
    findings = [finding for check in checks for finding in _findings(check, settings)]
    if json:
        print_json({"version": __version__, "findings": [asdict(finding) for finding in findings]})
    else:
        for result in findings:
            mark = "[green]✓[/]" if result.good else ("[red]✗[/]" if result.needed else "[yellow]![/]")
            console.print(f"{mark} [bold]{result.what}[/] {escape(result.detail)}")
            if result.remedy and not result.good:
                console.print(f"    {escape(result.remedy)}", style="dim")
    return OK if all(finding.good or not finding.needed for finding in findings) else UNAVAILABLE


def _findings(check: Callable[[Settings], list[Finding]], settings: Settings) -> list[Finding]:
    """Return the findings of a check; its own failure is a finding too, so that the other checks still run."""
    try:
        return check(settings)
    except HeadgateError as error:
        what = check.__name__.strip("_").replace("_", " ")
        return [Finding(what, good=False, detail=error.detail, remedy=error.remedy)]


def _system(_settings: Settings) -> list[Finding]:
    where = f"Headgate {__version__} on Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return [Finding("system", good=True, detail=where)]


def _settings(_settings: Settings) -> list[Finding]:
    """Report variables that resemble settings: a typo could leave an installation open."""
    return [
        Finding("settings", good=False, detail=f"{name} {NO_SETTING}", remedy=remedy, needed=False)
        for name, remedy in unknown_variables()
    ]


def _folder(settings: Settings) -> list[Finding]:
    folder = settings.data_dir
    try:
        data_folder(folder)
        writable, private = os.access(folder, os.W_OK), is_private(folder)
    except (OSError, Unavailable):
        writable = private = False
    if not writable:
        return [
            Finding("data folder", good=False, detail=f"{folder} cannot be written.", remedy="Set HEADGATE_DATA_DIR.")
        ]
    if not private:
        shared = f"{folder} is writable by other users of this machine."
        return [Finding("data folder", good=False, detail=shared, remedy=f"chmod 700 {folder}", needed=False)]
    free = shutil.disk_usage(folder).free
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    return [
        Finding("data folder", good=free > LEAST_FREE_BYTES, detail=detail, remedy="Free some space.", needed=False)
    ]


def _secret_key(settings: Settings) -> list[Finding]:
    first = "when the first secret is stored"
    return [_key("secret key", settings.data_dir / KEY_FILE, settings.secret_key, "HEADGATE_SECRET_KEY", first)]


def _evidence_key(settings: Settings) -> list[Finding]:
    path, first = settings.data_dir / EVIDENCE_KEY_FILE, "when the first evidence is exported"
    return [_key("evidence key", path, settings.evidence_key, "HEADGATE_EVIDENCE_KEY", first)]


def _key(what: str, path: Path, given: SecretStr | None, variable: str, first: str) -> Finding:
    if given is not None:
        return Finding(what, good=True, detail=f"from {variable}")
    if not path.exists():
        return Finding(what, good=True, detail=f"made in {path} {first}")
    mode = stat.S_IMODE(path.stat().st_mode)
    return Finding(what, good=is_private(path), detail=f"{path}, mode {mode:04o}", remedy=f"chmod 600 {path}")


def _database(settings: Settings) -> list[Finding]:
    async def work() -> Finding:
        database = Database(settings)
        shown = database.url.render_as_string(hide_password=True)
        try:
            await database.ping()
            version = await current(database)
        except HeadgateError as error:
            return Finding("database", good=False, detail=f"{shown}: {error.detail}", remedy=error.remedy)
        finally:
            await database.close()
        schema = f"schema {version}" if version else "empty"
        return Finding(
            "database", good=version in (None, HEAD), detail=f"{shown}, {schema}", remedy="headgate db upgrade"
        )

    return [asyncio.run(work())]


def _encryption(settings: Settings) -> list[Finding]:
    """Whether files and conversations of the organisation that commands work in are encrypted."""

    async def work(installation: Installation) -> Encryption:
        async with installation.database.reading() as session:
            return await encryption_of(session, acting(), always=settings.storage.encrypt)

    if not asyncio.run(is_migrated(settings)):
        return []
    state = with_installation(work, settings)
    detail = "new files and conversations are stored unencrypted; headgate encryption enable encrypts them"
    if state.on:
        since = "" if state.since is None else f" since {when(moment(state.since))}"
        detail = f"new files and conversations are encrypted{since}"
    return [Finding("encryption at rest", good=True, detail=detail)]


def _engine(settings: Settings) -> list[Finding]:
    """Check the engine, as `/health/ready` does; requires a migrated database."""

    async def work() -> Readiness | None:
        database = Database(settings)
        try:
            if await current(database) != HEAD:
                return None
        except HeadgateError:
            return None  # said by the check of the database
        finally:
            await database.close()
        async with open_parts(settings) as parts:
            return await check_readiness(
                parts.database.prove_write, parts.engine.health, writes=parts.engine.store.prove_write
            )

    try:
        report = asyncio.run(work())
    except HeadgateError as error:
        return [Finding("engine", good=False, detail=error.detail, remedy=error.remedy)]
    parts = report.parts if report is not None else []
    remedy = "Start the missing service. The checks are described in docs/operate/monitoring.md."
    return [
        Finding(
            part.name, good=part.state == "ok", detail=f"{part.detail} ({part.latency_ms:g} ms)".lstrip(), remedy=remedy
        )
        for part in parts
        if part.name != "database"
    ]


def _installed_components(_settings: Settings) -> list[Finding]:
    """Check installed component packages; silent without any."""
    installed = installed_components()
    remedy = "Fix or remove the package."
    faults = [
        Finding("components", good=False, detail=fault, remedy=remedy, needed=False) for fault in installed.faults
    ]
    names = ", ".join(component.__name__ for component in installed.components)
    return [*faults, Finding("components", good=True, detail=f"installed: {names}")] if names else faults


def _sandbox(settings: Settings) -> list[Finding]:
    report = probe()
    missing = ", ".join(f"{layer.name} ({layer.detail})" for layer in report.missing)
    result = "runs without it: HEADGATE_SANDBOX__INSECURE is set" if settings.sandbox.insecure else "is refused"
    detail = f"missing: {missing}. Custom code {result}." if missing else "custom code runs isolated"
    remedy = " ".join(dict.fromkeys(f"{layer.remedy}." for layer in report.missing))
    return [Finding("sandbox", good=report.complete, detail=detail, remedy=remedy, needed=False)]


def _sandbox_network(settings: Settings) -> list[Finding]:
    """Report which hosts custom code may connect to; without isolation the limits are not enforced."""
    hosts = [read_pattern(host) for host in settings.sandbox.hosts]
    enforced = not (hosts and settings.sandbox.insecure and probe().missing)
    where = ", ".join(map(str, hosts)) or "no hosts; HEADGATE_SANDBOX__HOSTS is empty"
    detail = f"custom components may connect to {where}" + (
        "" if enforced else "; not enforced, since a layer is missing"
    )
    remedy = "" if enforced else "Remove HEADGATE_SANDBOX__HOSTS or HEADGATE_SANDBOX__INSECURE."
    return [Finding("sandbox network", good=enforced, detail=detail, remedy=remedy, needed=False)]


def _port(settings: Settings) -> list[Finding]:
    server = settings.server
    with socket.socket() as probe_:
        used = probe_.connect_ex((server.host, server.port)) == 0 if server.port else False
    detail = f"{server.host}:{server.port} {'is in use' if used else 'is free'}"
    return [
        Finding(
            "port", good=not used, detail=detail, remedy="Use headgate serve --port 0 to select another.", needed=False
        )
    ]


def _sign_in(settings: Settings) -> list[Finding]:
    """Check authentication: its mode, start-up errors, and unnecessary exposure."""
    server = settings.server
    mode = "auto-login: one local user without sign-in" if server.auto_login else "sign-in required"
    try:
        refuse_exposure(server)
    except Invalid as error:
        return [Finding("sign-in", good=False, detail=f"{mode}. {error.detail}", remedy=error.remedy)]
    warnings = [
        Finding("open", good=False, detail=warning, remedy="See docs/operate/security.md.", needed=False)
        for warning in exposures(server)
    ]
    sign_in = Finding("sign-in", good=True, detail=f"{mode}, at {server.public_url or server.host}")
    return [sign_in, *_locked(settings), *warnings]


def _locked(settings: Settings) -> list[Finding]:
    """Whether sign-in is required but impossible."""

    async def work() -> bool:
        database = Database(settings)
        try:
            return await current(database) == HEAD and await is_locked(settings, database)
        except HeadgateError:
            return False  # said by the check of the database
        finally:
            await database.close()

    if not asyncio.run(work()):
        return []
    remedy = "Create the first administrator: headgate users create EMAIL --admin"
    return [Finding("people", good=False, detail="nobody can sign in yet", remedy=remedy, needed=False)]


def _outgoing_proxy(settings: Settings) -> list[Finding]:
    """Whether the proxy accepts Headgate; nothing leaves the proxy for this."""
    what, outgoing = "outgoing proxy", settings.outgoing
    policy = AddressPolicy.of(outgoing, OPERATOR_NETWORKS)
    policy.trust(create_default_context())
    if policy.proxy is None:
        return []
    probe_proxy(policy.proxy)
    direct = ", ".join(outgoing.direct_hosts) or "loopback only"
    names = "names" if outgoing.proxy_resolves_names else "checked addresses"
    return [Finding(what, good=True, detail=f"{policy.proxy.shown} answers; it is sent {names}; direct: {direct}")]


def _single_sign_on(settings: Settings) -> list[Finding]:
    """Check that the provider responds, and show the redirect URL to register."""
    what, given = "single sign-on", settings.single_sign_on
    if not given.issuer:
        return []

    async def work() -> int:
        sign_on = single_sign_on(settings, SecretBox(new_ring(settings)))
        try:
            return await sign_on.count_keys()
        finally:
            await sign_on.close()

    try:
        keys = asyncio.run(work())
    except HeadgateError as error:
        return [Finding(what, good=False, detail=error.detail, remedy=error.remedy)]
    callback = f"{settings.server.public_url or 'the public URL'}/api/v1/sign-in/oidc/callback"
    findings = [Finding(what, good=True, detail=f"{given.issuer}, keys: {keys}; it sends people back to {callback}")]
    if settings.server.auto_login:
        detail = "not used while auto-login is on"
        findings.append(
            Finding(what, good=False, detail=detail, remedy="Set HEADGATE_SERVER__AUTO_LOGIN=false.", needed=False)
        )
    return findings


def _models(settings: Settings) -> list[Finding]:
    """Check models, as Settings and the assistant do: ready providers, and each role without a model."""

    async def work() -> readiness.ModelsReadiness | None:
        database = Database(settings)
        try:
            if await current(database) != HEAD:
                return None  # reported by the check of the database
            keys = Installation(settings, database).keys_of(replace(LOCAL, actor=operator()), "models")
            return await readiness.survey(keys, local=LocalModels())
        finally:
            await database.close()

    survey = asyncio.run(work())
    if survey is None:
        return []
    ready = [provider.label for provider in survey.providers if provider.configured]
    chosen = [f"{role.role}: {role.model}" for role in survey.roles if role.model and role.ready]
    none = "none is ready; the offline builder is used"
    detail = f"ready: {', '.join(ready)}. {'; '.join(chosen)}" if ready else none
    remedy = "headgate models providers shows what each one needs."
    return [
        Finding("models", good=bool(ready), detail=detail, remedy=remedy, needed=False),
        *(
            Finding(f"model: {role.role}", good=False, detail=role.problem, remedy=role.remedy, needed=False)
            for role in survey.roles
            if not role.ready and (ready or role.source)
        ),
    ]
