"""How runs are carried out, and by whom."""

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
    max_concurrent_runs: int = Field(default=32, ge=1, description="Runs that make progress at once.")
    spare_concurrent_runs: int = Field(
        default=96,
        ge=0,
        description="Further runs that may be executed while that many are, each of a tenant, space and user who has "
        "less than their fair share: nobody waits for the long runs of others.",
    )
    weights: dict[str, Annotated[float, Field(gt=0, le=1000)]] = Field(
        default={},
        description="Weight of tenants, spaces and users by id where slots of the engine are shared; 1 of those that "
        'are not named. With `{"a": 3}` tenant `a` gets three times as many slots as another while both have runs '
        "that wait. With workers weights are rounded to whole numbers from 1 to 8.",
    )
    max_concurrent_steps: int = Field(default=8, ge=1, description="Steps of one run that work at once.")
    lease_seconds: float = Field(
        default=8.0,
        gt=0,
        description="How long a claimed step, or a job such as a delivery or a session of the development agent, is "
        "left to a worker that is not heard of. It renews its claims three times as often.",
    )
    step_timeout_seconds: float = Field(default=600.0, gt=0, description="Longest time a step may work.")
    run_timeout_seconds: float | None = Field(
        default=86_400.0,
        gt=0,
        description="Maximum execution time of a run; then it fails with `run_stale`. Down time of the server and "
        "waiting for a worker do not count. It can be resumed. Empty: no limit.",
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
        description="Runs are refused (503 `capacity_short`) while less is free under the data folder. Empty: 64 MiB, "
        "or 2 % of a small volume. 0: no limit.",
    )
    min_free_memory_bytes: int = Field(
        default=64 * MEBIBYTE,
        ge=0,
        description="Runs are refused while the machine, or the server's control group, has less memory available. "
        "0: no limit.",
    )
    max_write_wait_seconds: float | None = Field(
        default=5.0,
        gt=0,
        description="Runs are refused while a write or a request has waited longer for its turn or a database "
        "connection. Empty: no limit.",
    )
    recover_on_start: bool = Field(default=True, description="Recover queued and running runs when the server starts.")


class CelerySettings(BaseModel, defer_build=True):
    """Worker processes, for the engine `celery`. Each of the three Redis databases holds nothing else."""

    broker_url: str = Field(default="redis://127.0.0.1:6379/0", description="Redis database of the queues.")
    result_url: str = Field(default="redis://127.0.0.1:6379/1", description="Redis database of task results.")
    events_url: str = Field(default="redis://127.0.0.1:6379/2", description="Redis database of live events.")
    queue: str = Field(
        default="headgate",
        pattern=r"^[A-Za-z0-9_-]{1,60}$",
        description="Name that the queues of this installation begin with.",
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="Child processes of one worker; one task each.")
    visibility_timeout_seconds: int = Field(
        default=21_600,
        ge=60,
        description="After how long Redis gives an unfinished message out again. Above the longest task; recovery does "
        "not wait for it.",
    )
    sweep_seconds: float = Field(default=2.0, gt=0, description="How often beat looks for runs that were left.")
    redispatch_seconds: float = Field(
        default=5.0, gt=0, description="How long a message may be missing before it counts as lost."
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
        default=10.0, ge=0, description="How long a stopping worker lets its tasks go on; the rest is recovered."
    )
    max_memory_per_child_mb: int = Field(
        default=1024, ge=64, description="A child that uses more is replaced after its task."
    )
