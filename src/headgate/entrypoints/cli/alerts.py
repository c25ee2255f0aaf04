"""`headgate alerts`: rules that watch runs, and what they found."""

from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.flow_choice import flow_id_of
from headgate.entrypoints.cli.output import JsonFlag, print_result, print_rows, when
from headgate.entrypoints.cli.session import acting, on_installation, on_parts
from headgate.entrypoints.compose import Parts
from headgate.entrypoints.installation import Installation
from headgate.features.alerts import service
from headgate.features.alerts.letters import duration, value_of
from headgate.features.alerts.schemas import AlertOut, AlertRuleIn, AlertRuleOut, AlertRulePatch, AlertState, RuleKind
from headgate.features.connections.service import get_connection
from headgate.foundation.checked import checked

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Alert rules: what is watched, and who is notified.")
RuleId = Annotated[str, typer.Argument(metavar="RULE", help="Id of the rule.")]
Most = Annotated[int, typer.Option("--limit", min=1, max=200, help="Maximum number.")]


@app.command()
@on_installation
async def rules(
    installation: Installation,
    flow: Annotated[str | None, typer.Option(help="Only rules of this flow, by name or id.")] = None,
    limit: Most = 200,
    json: JsonFlag = False,
) -> None:
    """List alert rules and their state, newest first."""
    flow_id = None if flow is None else await flow_id_of(installation, flow)
    async with installation.database.reading() as session:
        rows = await service.list_rules(session, acting(), flow_id=flow_id, limit=limit)
    columns = ("id", "name", "kind", "of", "state", "last fired")
    print_rows(rows, columns, [_rule(row) for row in rows], json=json, none="No alert rules.")


@app.command()
@on_installation
async def add(
    installation: Installation,
    name: Annotated[str, typer.Argument(help="Name of the rule.")],
    kind: Annotated[RuleKind, typer.Argument(help="What it watches.")],
    flow: Annotated[str | None, typer.Option(help="The flow, by name or id.")] = None,
    space: Annotated[str | None, typer.Option(help="Id of the space; without flow and space the organisation.")] = None,
    threshold: Annotated[float, typer.Option(help="Failed or queued runs, percent, seconds or US dollars.")] = 1,
    window: Annotated[int, typer.Option(help="Seconds that count, up to now.")] = 3_600,
    connection: Annotated[str | None, typer.Option(help="Shared connection for notices, by name or id.")] = None,
    to: Annotated[list[str] | None, typer.Option(help="Mail address of a recipient. Repeatable.")] = None,
    webhook: Annotated[str, typer.Option(help="Address of a webhook for notices.")] = "",
    quiet: Annotated[int, typer.Option(help="Least seconds between two notices.")] = 900,
    swedish: Annotated[bool, typer.Option("--swedish", help="Notices in Swedish instead of English.")] = False,
    json: JsonFlag = False,
) -> None:
    """Add an alert rule. The server evaluates it every minute."""
    flow_id = None if flow is None else await flow_id_of(installation, flow)
    async with installation.database.writing() as session:
        connection_id = None if connection is None else (await get_connection(session, acting(), connection)).id
        body = checked(
            AlertRuleIn,
            name=name,
            kind=kind,
            flow_id=flow_id,
            space_id=space,
            threshold=threshold,
            window_seconds=window,
            connection_id=connection_id,
            recipients=to or [],
            webhook_url=webhook,
            quiet_seconds=quiet,
            language="sv" if swedish else "en",
        )
        made = await service.add_rule(session, acting(), body, box=installation.box)
    print_result(made, f"Added: {made.id}", json=json)


@app.command()
@on_installation
async def mute(
    installation: Installation,
    rule: RuleId,
    until: Annotated[
        datetime | None, typer.Option(help="End of the mute, in local time; without it, end it now.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Send no notices of a rule until a time, or end that."""
    body = AlertRulePatch(muted_until=None if until is None else until.astimezone())
    async with installation.database.writing() as session:
        changed = await service.change_rule(session, acting(), rule, body, box=installation.box)
    print_result(changed, f"State: {changed.state}", json=json)


@app.command()
@on_installation
async def remove(installation: Installation, rule: RuleId, json: JsonFlag = False) -> None:
    """Remove a rule with its alerts and notices."""
    async with installation.database.writing() as session:
        await service.remove_rule(session, acting(), rule)
    print_result({"removed": rule}, "Removed.", json=json)


@app.command("test")
@on_parts
async def send_test(parts: Parts, rule: RuleId, json: JsonFlag = False) -> None:
    """Send a test notice through every channel of a rule, and show what each answered."""
    outcomes = await service.test_rule(parts.database, acting(), rule, parts.alert_sender)
    rows = [
        (outcome.channel, "delivered" if outcome.delivered else "failed", outcome.status or "", escape(outcome.message))
        for outcome in outcomes
    ]
    print_rows(outcomes, ("channel", "outcome", "status", ""), rows, json=json, none="No channel.")
    if not all(outcome.delivered for outcome in outcomes):
        raise typer.Exit(exit_codes.FAILED)


@app.command("list")
@on_installation
async def list_(
    installation: Installation,
    rule: Annotated[str | None, typer.Option(help="Only alerts of this rule.")] = None,
    state: Annotated[AlertState | None, typer.Option(help="Only alerts in this state.")] = None,
    limit: Most = 50,
    json: JsonFlag = False,
) -> None:
    """List alerts, newest first."""
    async with installation.database.reading() as session:
        rows = await service.list_alerts(session, acting(), rule_id=rule, state=state, limit=limit)
    columns = ("id", "rule", "flow", "found", "state", "opened")
    print_rows(rows, columns, [_alert(row) for row in rows], json=json, none="No alerts.")


@app.command()
@on_installation
async def acknowledge(
    installation: Installation, alert: Annotated[str, typer.Argument(help="Id of the alert.")], json: JsonFlag = False
) -> None:
    """Acknowledge an alert: it leaves the attention list and does not escalate."""
    async with installation.database.writing() as session:
        changed = await service.acknowledge(session, acting(), alert)
    print_result(changed, f"State: {changed.state}", json=json)


@app.command()
@on_installation
async def notices(
    installation: Installation,
    rule: Annotated[str | None, typer.Option(help="Only notices of this rule.")] = None,
    limit: Most = 50,
    json: JsonFlag = False,
) -> None:
    """List notices of alerts and the outcome of their delivery, newest first."""
    async with installation.database.reading() as session:
        rows = await service.list_notices(session, acting(), rule_id=rule, limit=limit)
    cells = [
        (
            row.id,
            row.kind,
            row.channel,
            row.status,
            when(row.created_at),
            escape(row.error.message if row.error else ""),
        )
        for row in rows
    ]
    print_rows(rows, ("id", "kind", "channel", "status", "created", ""), cells, json=json, none="No notices.")


@app.command()
@on_installation
async def redeliver(
    installation: Installation, notice: Annotated[str, typer.Argument(help="Id of the notice.")], json: JsonFlag = False
) -> None:
    """Send a failed notice again, with the same idempotency key. The server sends it."""
    async with installation.database.writing() as session:
        changed = await service.redeliver(session, acting(), notice)
    print_result(changed, f"Status: {changed.status}", json=json)


def _rule(row: AlertRuleOut) -> tuple[str, ...]:
    scope = escape(row.flow_name or "") or ("space" if row.space_id else "organisation")
    kind = f"{row.kind.replace('_', ' ')} ({duration(row.window_seconds)})"
    return row.id, escape(row.name), kind, scope, row.state, when(row.fired_at)


def _alert(row: AlertOut) -> tuple[str, ...]:
    value = value_of(row.kind, row.value, row.window_seconds)
    return row.id, escape(row.rule_name), escape(row.name), value, row.state, when(row.opened_at)
