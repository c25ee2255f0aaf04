"""A small interpreter of the filter programs, so that both architectures are tested on any machine."""

import struct
from collections.abc import Sequence

from headgate.sandbox.guest.seccomp import AND, JUMP_AT_LEAST, JUMP_EQUAL, LOAD, RETURN, Instruction


def run_filter(program: Sequence[Instruction], *, audit: int, number: int, arguments: Sequence[int] = ()) -> int:
    """What the kernel would return for one call; arguments are 64 bits each."""
    padded = [argument & (2**64 - 1) for argument in (*arguments, *([0] * 6))][:6]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, audit, 0, *padded)
    accumulator, place = 0, 0
    while True:
        code, operand, holds, fails = program[place]
        place += 1
        match code:
            case _ if code == LOAD:
                accumulator = struct.unpack_from("<I", data, operand)[0]
            case _ if code == AND:
                accumulator &= operand
            case _ if code == JUMP_EQUAL:
                place += holds if accumulator == operand else fails
            case _ if code == JUMP_AT_LEAST:
                place += holds if accumulator >= operand else fails
            case _ if code == RETURN:
                return operand
            case _:
                raise AssertionError(f"unknown instruction {code}")
