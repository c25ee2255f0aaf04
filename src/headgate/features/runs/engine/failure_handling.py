"""Starts the handlers of failed runs, with the facts of the failure as their input."""

from dataclasses import replace

from headgate.features.runs import form, start_check
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.errors import SubflowRefused
from headgate.features.runs.failure_handlers.values import FailedRun
from headgate.features.runs.steps.planned import PlannedFlow, refuse_unoffered
from headgate.features.runs.transitions import RunKey, clock
from headgate.foundation.errors import HeadgateError, RateLimited, Unavailable
from headgate.foundation.log import get_logger
from headgate.sdk import RunInput
from headgate.sdk.outside import mark

HANDLE_SECONDS = 1.0
"""How often the database is asked for failed runs without a handler."""
LONGEST_RETRY = 3600 * 1_000_000
"""Microseconds for which a start is repeated that a limit, an outage or an unexpected error prevents."""
UNEXPECTED = "An unexpected error occurred; see the server log."
log = get_logger(__name__)


async def start_handlers(engine: ExecutionBackend) -> None:
    """Start the handlers of runs that failed; of several processes one starts each."""
    for failed in await engine.services.failure_handlers.claim():
        try:
            await _handle(engine, failed)
        except Exception as error:
            log.warning("handler of a failed run not started", run_id=failed.key.run_id, exc_info=error)


async def _handle(engine: ExecutionBackend, failed: FailedRun) -> None:
    handlers = engine.services.failure_handlers
    if await engine.store.status(failed.handler_run_id) is not None:  # by a process that died before it recorded this
        await handlers.settle(failed)
        return
    try:
        await _start(engine, failed)
    except (Unavailable, RateLimited) as error:
        if clock() - failed.created_at > LONGEST_RETRY:
            await handlers.settle(failed, str(error))
    except HeadgateError as error:
        await handlers.settle(failed, str(error))
    except Exception:
        if clock() - failed.created_at > LONGEST_RETRY:
            await handlers.settle(failed, UNEXPECTED)
        raise
    else:
        await handlers.settle(failed)


async def _start(engine: ExecutionBackend, failed: FailedRun) -> None:
    services, target = engine.services, failed.handler
    if target is None:
        raise SubflowRefused(
            f"There is no published flow '{failed.handler_name}' to handle failures.",
            remedy="Publish it, or choose another in the settings of the flow.",
        )
    space_id = await services.spaces.of(target.tenant_id, target.flow_id)
    own_space = await services.spaces.of(failed.key.tenant_id, failed.key.flow_id)
    if not await services.starters.may_start(
        target.tenant_id, failed.user_id, target.flow_id, without_user=space_id == own_space
    ):
        raise SubflowRefused(
            f"The user who started the failed run may not run '{failed.handler_name}'.",
            remedy="Give that user the right to run flows in its space, or choose another flow.",
        )
    planned = await engine.plans.of(target)
    refuse_unoffered(planned)
    await start_check.require_ready(services, target, planned, None)
    quotas = services.quotas
    bounds = () if quotas is None else await quotas.of_start(target.tenant_id, space_id, failed.visitor)
    run_input = await _input(engine, failed, planned)
    start_check.require_files(planned, run_input, None)
    key = RunKey(failed.handler_run_id, target.tenant_id, target.flow_id, target.version)
    request = RunRequest(
        key=key, input=run_input, user_id=failed.user_id, visitor=failed.visitor, bounds=bounds, handles=True
    )
    await engine.start(request)


async def _input(engine: ExecutionBackend, failed: FailedRun, planned: PlannedFlow) -> RunInput:
    """Return the facts as answers to the form, and in words. Raises `InputInvalid` when the form asks for more.

    The message is data of an earlier run: it is marked as content from outside.
    """
    if not await _may_read(engine, failed, planned):
        failed = replace(failed, message="The message is classified higher than the input of this flow.")
    facts = failed.facts()
    fields = {field.id for field in planned.form}
    answers = form.check_form(planned.form, {name: fact for name, fact in facts.items() if name in fields})
    step = f" in step '{failed.step_id}', attempt {failed.attempt}," if failed.step_id else ""
    text = f"Run {failed.key.run_id} of '{failed.flow_name}' failed{step} with {failed.code}: {failed.message}"
    return RunInput(text=text, form_data={**facts, **answers}, outside=(mark("run"),))


async def _may_read(engine: ExecutionBackend, failed: FailedRun, planned: PlannedFlow) -> bool:
    """Return whether the handler's input may have the classification of what reached the failed step."""
    classes = engine.services.classes
    if classes is None:
        return True
    flow = (await engine.plans.of(failed.key)).flow
    steps = (await classes.classify(failed.key.tenant_id, flow)).steps
    of_step = steps.get(failed.step_id)
    level = of_step.incoming if of_step is not None else max((step.output for step in steps.values()), default=0)
    return classes.scheme.of_input(planned.flow.settings.input_classification) >= level
