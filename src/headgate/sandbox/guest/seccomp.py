"""Compiles the table of system calls to a filter program in the kernel's classic BPF (`linux/filter.h`)."""

import errno
import struct
from collections.abc import Sequence
from typing import NamedTuple

from headgate.sandbox.guest import denied, kernel
from headgate.sandbox.guest.syscalls import (
    ALLOWED,
    ANSWERED,
    ARCHITECTURES,
    BROKER,
    GUARDED,
    NETWORK,
    SELF,
    Architecture,
    Check,
    Guard,
)

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
ALLOW, KILL, ANSWER = 0x7FFF0000, 0x80000000, 0x00050000

NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16
"""Offsets into `struct seccomp_data`: the call's number, the architecture, six arguments of 8 bytes."""


class Instruction(NamedTuple):
    """`struct sock_filter`: for a jump, how many instructions to skip when the test succeeds and when it fails."""

    code: int
    operand: int
    holds: int = 0
    fails: int = 0


def build_filter(architecture: Architecture, process: int, broker: int | None = None) -> list[Instruction]:
    """Return the program for one worker.

    Args:
        architecture: Numbers of its calls.
        process: Its process id.
        broker: The descriptor for connection requests; None for a worker without network.
    """
    numbers = architecture.numbers
    constants = {SELF: process} if broker is None else {SELF: process, BROKER: broker}
    guarded = GUARDED if broker is None else GUARDED | NETWORK
    program = _of_architecture(architecture)
    for name in ALLOWED:
        if name in numbers:
            program += _case(numbers[name], [Instruction(RETURN, ALLOW)])
    for name, guard in guarded.items():
        if name in numbers:
            program += _case(numbers[name], _guarded(guard, constants))
    for name, error in ANSWERED.items():
        program += _case(numbers[name], [Instruction(RETURN, ANSWER | error)])
    return [*program, Instruction(RETURN, ANSWER | errno.EPERM)]


def build_program_filter(machine: str, *, network: bool, own_files: bool) -> list[Instruction]:
    """Return the filter of a program: everything but the calls of `denied`.

    Args:
        machine: Name of the architecture.
        network: Whether it has a separate network, which reaches nothing but Headgate.
        own_files: Whether it can change modes, owners and times of no other files than its own.
    """
    architecture = ARCHITECTURES[machine]
    program = _of_architecture(architecture)
    for number, error in denied.denied_calls(machine, own_files=own_files).items():
        program += _case(number, [Instruction(RETURN, ANSWER | error)])
    sockets = denied.WITH_NETWORK if network else denied.WITHOUT_NETWORK
    for name, guard in {**denied.GUARDED, "socket": sockets}.items():
        program += _case(architecture.numbers[name], _guarded(guard, {}))
    return [*program, Instruction(RETURN, ALLOW)]


def _of_architecture(architecture: Architecture) -> list[Instruction]:
    """Kill for calls of another architecture; then load the number of the call."""
    program = [
        Instruction(LOAD, ARCHITECTURE_AT),
        Instruction(JUMP_EQUAL, architecture.audit, holds=1),
        Instruction(RETURN, KILL),
        Instruction(LOAD, NUMBER_AT),
    ]
    if architecture.highest is not None:
        program += [Instruction(JUMP_AT_LEAST, architecture.highest, fails=1), Instruction(RETURN, KILL)]
    return program


def pack_filter(program: Sequence[Instruction]) -> bytes:
    """Return the program in the kernel's format, 8 bytes per instruction."""
    return b"".join(struct.pack("=HBBI", code, holds, fails, operand) for code, operand, holds, fails in program)


def install_filter(architecture: Architecture, process: int, broker: int | None = None) -> None:
    """Install the filter on this thread, irrevocably."""
    kernel.install_seccomp(pack_filter(build_filter(architecture, process, broker)))


def _case(number: int, body: list[Instruction]) -> list[Instruction]:
    """Run `body`, which ends in a return, for this call; continue after it for any other."""
    return [Instruction(JUMP_EQUAL, number, fails=len(body)), *body]


def _guarded(guard: Guard, constants: dict[int, int]) -> list[Instruction]:
    body: list[Instruction] = []
    outcomes = [
        *((alternative, ALLOW) for alternative in guard.alternatives),
        *((alternative, ANSWER) for alternative in guard.idle),
    ]
    for alternative, action in outcomes:
        steps = [step for check in alternative for step in _steps(check, constants)]
        steps.append(Instruction(RETURN, action))
        # When a test fails, continue with the next alternative.
        body += [
            step._replace(fails=len(steps) - index - 1) if step.code == JUMP_EQUAL else step
            for index, step in enumerate(steps)
        ]
    return [*body, Instruction(RETURN, ANSWER | guard.error)]


def _steps(check: Check, constants: dict[int, int]) -> list[Instruction]:
    lower = ARGUMENTS_AT + 8 * check.argument  # both architectures are little-endian
    value = constants.get(check.value, check.value)
    steps = [Instruction(LOAD, lower)]
    if check.mask != 0xFFFFFFFF:
        steps.append(Instruction(AND, check.mask))
    steps.append(Instruction(JUMP_EQUAL, value))
    if check.null:
        steps += [Instruction(LOAD, lower + 4), Instruction(JUMP_EQUAL, 0)]
    return steps
