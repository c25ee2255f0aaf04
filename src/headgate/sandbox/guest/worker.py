"""One worker: confined, it loads one piece of code and executes calls to its functions until its socket closes."""

import contextlib
import json
import os
import socket
import sys
import tempfile
import types
from collections.abc import Mapping

from headgate.sandbox.guest import network
from headgate.sandbox.guest.calls import HostFunction, answer
from headgate.sandbox.guest.lockdown import Place, lock_down
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.guest.wire import pack, receive

MODULE_NAME = "node_code"

NICENESS = 10
"""Niceness: the server has priority over custom code."""


def run_worker(
    connection: socket.socket,
    policy: Policy,
    place: Place,
    *,
    hosts: Mapping[str, HostFunction],
    broker: socket.socket | None = None,
) -> None:
    """Apply the confinement, report readiness or the error, and serve. The caller ends the process."""
    try:
        _settle_in(place.scratch, policy)
        if broker:
            network.install(broker)
        lock_down(policy, place, broker.fileno() if broker else None)
        _rehearse(policy, hosts)
    except Exception as error:  # noqa: BLE001 - whatever it is, the server has to hear of it
        connection.sendall(pack(json.dumps({"fatal": f"{type(error).__name__}: {error}"}).encode()))
        return
    connection.sendall(pack(json.dumps({"ready": os.getpid()}).encode()))
    module = types.ModuleType(MODULE_NAME)
    sys.modules[MODULE_NAME] = module  # dataclasses and type hints look up their module
    with contextlib.suppress(EOFError):
        while True:
            request = json.loads(receive(connection, policy.input_bytes))
            connection.sendall(pack(answer(module, request, policy.output_bytes, hosts)))


def _rehearse(policy: Policy, hosts: Mapping[str, HostFunction]) -> None:
    module = types.ModuleType("rehearsal")
    sys.modules[module.__name__] = module
    for request in json.loads(policy.rehearsal):
        answer(module, request, policy.output_bytes, hosts)
    del sys.modules[module.__name__]


def _settle_in(scratch: str, policy: Policy) -> None:
    os.nice(NICENESS)
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(HOME=scratch, TMPDIR=scratch, PATH="", LANG="C.UTF-8")
    for variable in policy.environment:
        name, _, value = variable.partition("=")
        os.environ[name] = value
    tempfile.tempdir = scratch
