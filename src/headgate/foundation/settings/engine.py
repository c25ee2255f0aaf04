"""How and by which processes runs are executed."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from headgate.foundation.settings.units import MEBIBYTE


class EngineSettings(BaseModel, defer_build=True):
    """How runs are executed."""

    backend: Literal["embedded", "celery"] = Field(
        default="embedded",
        description="`embedded`: inside the server. `celery`: by worker processes, with PostgreSQL and Redis; needs "
        "the extra `distributed`.",
    )
    max_concurrent_runs: int = Field(default=32, ge=1, description="Maximum of concurrent runs.")
    spare_concurrent_runs: int = Field(
        default=96,
        ge=0,
        description=(
            "Additional concurrent runs for tenants, spaces and users who have less than their "
            "fair share, so that nobody waits for the long runs of others."
        ),
    )
    weights: dict[str, Annotated[float, Field(gt=0, le=1000)]] = Field(
        default={},
        description=(
            "Weight of tenants, spaces and users by id in the sharing of engine slots; default 1. "
            'With `{"a": 3}` tenant `a` gets three times as many slots as another while both '
            "have waiting runs. With workers, weights are rounded to whole numbers from 1 to 8."
        ),
    )
    max_concurrent_steps: int = Field(default=8, ge=1, description="Maximum of concurrent steps in one run.")
    lease_seconds: float = Field(
        default=8.0,
        gt=0,
        description=(
            "How long a claimed step, or a job such as a delivery or a session of the development "
            "agent, stays claimed without a sign of life from its worker. Workers renew claims "
            "three times as often."
        ),
    )
    step_timeout_seconds: float = Field(
        default=600.0, gt=0, description="Maximum execution time of an attempt at a step whose policy sets none."
    )
    max_step_timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        description="The highest limit that the policy of a step may set. Empty: `step_timeout_seconds`, so that "
        "policies can only lower it. With workers, tasks of fewer steps are sent the higher it is.",
    )
    run_timeout_seconds: float | None = Field(
        default=86_400.0,
        gt=0,
        description=(
            "Maximum execution time of a run; then it fails with `run_stale`. Server downtime and "
            "waiting for a worker do not count. The run can be resumed. Empty: no limit."
        ),
    )
    event_memory_bytes: int = Field(
        default=16 * 1024 * 1024,
        ge=65_536,
        description="Memory for events of running steps (tokens, tool calls, log lines), for readers that connect "
        "later. Above it the oldest are dropped, and readers get a `gap` event. Events of runs and steps are rows.",
    )
    min_free_disk_bytes: int | None = Field(
        default=None,
        ge=0,
        description=(
            "Runs are rejected (503 `capacity_short`) while less space is free in the data folder. "
            "Empty: 64 MiB, or 2 % of a small volume. 0: no limit."
        ),
    )
    min_free_memory_bytes: int = Field(
        default=64 * MEBIBYTE,
        ge=0,
        description=(
            "Runs are rejected while the machine, or the server's control group, has less memory "
            "available. 0: no limit."
        ),
    )
    max_write_wait_seconds: float | None = Field(
        default=5.0,
        gt=0,
        description=(
            "Runs are rejected while a write or a request has waited longer for its turn or a "
            "database connection. Empty: no limit."
        ),
    )
    recover_on_start: bool = Field(default=True, description="Recover queued and running runs when the server starts.")

    @property
    def longest_step_seconds(self) -> float:
        """Return the longest time that an attempt at a step may take."""
        return max(self.step_timeout_seconds, self.max_step_timeout_seconds or 0.0)


class CelerySettings(BaseModel, defer_build=True):
    """Worker processes, for the engine `celery`. Each of the three Redis databases holds nothing else."""

    broker_url: str = Field(default="redis://127.0.0.1:6379/0", description="Redis database of the queues.")
    result_url: str = Field(default="redis://127.0.0.1:6379/1", description="Redis database of task results.")
    events_url: str = Field(default="redis://127.0.0.1:6379/2", description="Redis database of live events.")
    queue: str = Field(
        default="headgate",
        pattern=r"^[A-Za-z0-9_-]{1,60}$",
        description="Name prefix of this installation's queues.",
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="Child processes of one worker, each for one task.")
    visibility_timeout_seconds: int = Field(
        default=21_600,
        ge=60,
        description=(
            "Time after which Redis redelivers an unfinished message. Must exceed the longest "
            "task; recovery does not wait for it."
        ),
    )
    sweep_seconds: float = Field(default=2.0, gt=0, description="Interval at which beat looks for abandoned runs.")
    redispatch_seconds: float = Field(
        default=5.0, gt=0, description="Time after which a missing message counts as lost."
    )
    max_pickups: int = Field(
        default=20,
        ge=1,
        description="How many workers in a row may die when they receive a run again, before they claim a step of it;"
        " then the run fails. Messages that no worker received do not count.",
    )
    result_expires_seconds: int = Field(default=3_600, ge=60, description="How long task results are kept.")
    events_expire_seconds: int = Field(default=3_600, ge=60, description="How long the live events of a run are kept.")
    shutdown_seconds: float = Field(
        default=10.0, ge=0, description="How long a stopping worker waits for its tasks; the rest is recovered."
    )
    max_memory_per_child_mb: int = Field(
        default=1024, ge=64, description="A child process that uses more is replaced after its task."
    )
