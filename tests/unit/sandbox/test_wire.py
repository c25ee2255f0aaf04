import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.sandbox.guest.wire import FrameTooLong, frame_length, pack, receive


class TestReceive:
    @given(payloads=st.lists(st.binary(max_size=300), min_size=1, max_size=5))
    def test_gives_back_what_was_packed_frame_by_frame(self, payloads: list[bytes]) -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendall(b"".join(map(pack, payloads)))
            assert [receive(theirs, 1000) for _ in payloads] == payloads

    def test_puts_a_frame_together_that_arrives_in_pieces(self) -> None:
        ours, theirs = socket.socketpair()
        payload = bytes(range(256)) * 8000
        with ours, theirs:
            sender = threading.Thread(target=ours.sendall, args=(pack(payload),))
            sender.start()
            assert receive(theirs, 1 << 22) == payload
            sender.join()

    @pytest.mark.parametrize("cut", [b"", b"\0\0", pack(b"abc")[:-1]])
    def test_notices_that_the_other_side_is_gone(self, cut: bytes) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            with ours:
                ours.sendall(cut)
            with pytest.raises(EOFError):
                receive(theirs, 1000)


class TestFrameLength:
    @given(length=st.integers(0, 2**32 - 1), limit=st.integers(0, 2**32 - 1))
    def test_is_refused_above_the_limit_and_only_there(self, length: int, limit: int) -> None:
        header = length.to_bytes(4, "big")
        if length <= limit:
            assert frame_length(header, limit) == length
        else:
            with pytest.raises(FrameTooLong, match=str(limit)):
                frame_length(header, limit)
