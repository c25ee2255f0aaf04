"""The Celery application and its configuration."""

from typing import Any, cast

from celery import Celery
from celery._state import _set_task_join_will_block
from celery.backends.redis import RedisBackend
from kombu import pools
from kombu.entity import Exchange, Queue

from headgate.features.runs.engine.distributed.lanes import LaneCycle
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.features.runs.engine.distributed.transport import SteadyTransport
from headgate.foundation.settings import Settings

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 10.0


class _Deaf(RedisBackend.ResultConsumer):  # type: ignore[misc]
    """Subscribes to no results."""

    def consume_from(self, task_id: str) -> None:
        """Ignore it: sending a group would subscribe to every task of it."""

    def cancel_for(self, task_id: str) -> None:
        """Ignore it: nothing was subscribed."""


class JoinBackend(RedisBackend):  # type: ignore[misc]
    """A result backend that only lets Celery join branches; no client waits for a result."""

    ResultConsumer = _Deaf


def make_app(settings: Settings) -> Celery:
    """Make an application without tasks: enough to send. Close it with `close_app`."""
    # Without this, Celery would subscribe to the result of each task that is sent, for as long as the process lives.
    _set_task_join_will_block(True)  # noqa: FBT003
    app = Celery("headgate", set_as_current=False)
    app.conf.update(_durable(settings) | _transport(settings) | _quiet(settings))
    return app


def close_app(app: Celery) -> None:
    """Close the connections of an application, and those of any other in this process: pools are global."""
    cast("Any", pools).reset()
    app.backend.client.connection_pool.disconnect()
    app.close()


def _durable(settings: Settings) -> dict[str, Any]:
    """Acknowledge messages late: they are redelivered when their worker dies. They only name the rows to read."""
    celery = settings.celery
    queues = Queues(celery.queue)
    return {
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "worker_prefetch_multiplier": 1,
        "worker_concurrency": celery.concurrency,
        "worker_max_memory_per_child": celery.max_memory_per_child_mb * 1024,
        "worker_soft_shutdown_timeout": celery.shutdown_seconds,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "task_serializer": "json",
        "result_serializer": "json",
        "accept_content": ["json"],
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "result_expires": celery.result_expires_seconds,
        "task_queues": [_queue(name) for name in queues.names],
        "task_default_queue": queues.upkeep,
        "task_default_routing_key": queues.upkeep,
        "task_default_exchange": "",
        "task_create_missing_queues": False,
    }


def _transport(settings: Settings) -> dict[str, Any]:
    """Configure Redis: separate databases; the same visibility timeout in all three places; fail fast."""
    celery = settings.celery
    visibility = celery.visibility_timeout_seconds
    sockets = {"socket_connect_timeout": CONNECT_SECONDS, "socket_keepalive": True}
    return {
        "broker_url": celery.broker_url,
        "broker_transport": f"{SteadyTransport.__module__}:{SteadyTransport.__name__}",
        "result_backend": f"{__name__}:{JoinBackend.__name__}+{celery.result_url}",
        "result_backend_thread_safe": True,
        "visibility_timeout": visibility,
        "broker_transport_options": {
            "visibility_timeout": visibility,
            "queue_order_strategy": f"{LaneCycle.__module__}:{LaneCycle.__name__}",
            "priority_steps": [0],  # one list per queue
            "global_keyprefix": "",
            **sockets,
        },
        "result_backend_transport_options": {
            "visibility_timeout": visibility,
            "retry_policy": {"timeout": ANSWER_SECONDS, "max_retries": 3},
            **sockets,
        },
        "redis_socket_connect_timeout": CONNECT_SECONDS,
        "redis_socket_timeout": ANSWER_SECONDS,
        "redis_socket_keepalive": True,
        "broker_connection_timeout": CONNECT_SECONDS,
        "broker_connection_retry": True,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_pool_limit": 10,
        "task_publish_retry": False,
    }


def _quiet(settings: Settings) -> dict[str, Any]:
    """Keep Headgate's logging, and disable Celery's events, which nothing consumes."""
    return {
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        "worker_enable_remote_control": True,
        "enable_utc": True,
        "timezone": "UTC",
        "beat_schedule_filename": str(settings.data_dir / "beat-schedule"),
        "beat_max_loop_interval": max(0.5, settings.celery.sweep_seconds / 2),
    }


def _queue(name: str) -> Queue:
    """Return a queue addressed by its name alone: no binding has to survive a Redis that restarts empty."""
    exchange, queue = cast("Any", Exchange), cast("Any", Queue)
    entry: Queue = queue(name, exchange("", type="direct"), routing_key=name)
    return entry
