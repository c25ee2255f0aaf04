"""From the table of system calls to a filter program in the kernel's classic BPF (`linux/filter.h`)."""

import errno
import struct
from collections.abc import Sequence
from typing import NamedTuple

from headgate.sandbox.guest import kernel
from headgate.sandbox.guest.syscalls import (
    ALLOWED,
    ANSWERED,
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
    """`struct sock_filter`: on a jump, how many instructions to skip when the test holds and when it fails."""

    code: int
    operand: int
    holds: int = 0
    fails: int = 0


def build_filter(architecture: Architecture, process: int, broker: int | None = None) -> list[Instruction]:
    """The program for one worker.

    Args:
        architecture: Numbers of its calls.
        process: Its process id.
        broker: The descriptor on which it may ask for connections; None for a worker without network.
    """
    numbers = architecture.numbers
    known = {SELF: process} if broker is None else {SELF: process, BROKER: broker}
    guarded = GUARDED if broker is None else GUARDED | NETWORK
    program = [
        Instruction(LOAD, ARCHITECTURE_AT),
        Instruction(JUMP_EQUAL, architecture.audit, holds=1),
        Instruction(RETURN, KILL),
        Instruction(LOAD, NUMBER_AT),
    ]
    if architecture.highest is not None:
        program += [Instruction(JUMP_AT_LEAST, architecture.highest, fails=1), Instruction(RETURN, KILL)]
    for name in ALLOWED:
        if name in numbers:
            program += _case(numbers[name], [Instruction(RETURN, ALLOW)])
    for name, guard in guarded.items():
        if name in numbers:
            program += _case(numbers[name], _guarded(guard, known))
    for name, error in ANSWERED.items():
        program += _case(numbers[name], [Instruction(RETURN, ANSWER | error)])
    return [*program, Instruction(RETURN, ANSWER | errno.EPERM)]


def pack_filter(program: Sequence[Instruction]) -> bytes:
    """The program as the kernel reads it, 8 bytes an instruction."""
    return b"".join(struct.pack("=HBBI", code, holds, fails, operand) for code, operand, holds, fails in program)


def install_filter(architecture: Architecture, process: int, broker: int | None = None) -> None:
    """Put this thread under the filter, for good."""
    kernel.install_seccomp(pack_filter(build_filter(architecture, process, broker)))


def _case(number: int, body: list[Instruction]) -> list[Instruction]:
    """Run `body`, which ends in a return, for this call; go on after it for any other."""
    return [Instruction(JUMP_EQUAL, number, fails=len(body)), *body]


def _guarded(guard: Guard, known: dict[int, int]) -> list[Instruction]:
    body: list[Instruction] = []
    answers = [*((one, ALLOW) for one in guard.alternatives), *((one, ANSWER) for one in guard.idle)]
    for alternative, answer in answers:
        steps = [step for check in alternative for step in _steps(check, known)]
        steps.append(Instruction(RETURN, answer))
        # A failed test leaves this alternative for the next one.
        body += [
            step._replace(fails=len(steps) - place - 1) if step.code == JUMP_EQUAL else step
            for place, step in enumerate(steps)
        ]
    return [*body, Instruction(RETURN, ANSWER | guard.error)]


def _steps(check: Check, known: dict[int, int]) -> list[Instruction]:
    lower = ARGUMENTS_AT + 8 * check.argument  # both architectures are little-endian
    value = known.get(check.value, check.value)
    steps = [Instruction(LOAD, lower)]
    if check.mask != 0xFFFFFFFF:
        steps.append(Instruction(AND, check.mask))
    steps.append(Instruction(JUMP_EQUAL, value))
    if check.null:
        steps += [Instruction(LOAD, lower + 4), Instruction(JUMP_EQUAL, 0)]
    return steps
