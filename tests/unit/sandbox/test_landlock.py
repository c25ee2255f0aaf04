import struct

import pytest

from headgate.sandbox.guest import landlock


class TestHandledRights:
    @pytest.mark.parametrize(
        ("version", "highest_bit"), [(1, 12), (2, 13), (3, 14), (4, 14), (5, 15), (6, 15), (7, 15), (99, 15)]
    )
    def test_grow_with_the_version(self, version: int, highest_bit: int) -> None:
        assert landlock.handled_rights(version) == (1 << (highest_bit + 1)) - 1


class TestRulesetAttributes:
    @pytest.mark.parametrize(("version", "members"), [(1, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3)])
    def test_have_the_length_the_version_expects(self, version: int, members: int) -> None:
        assert len(landlock.ruleset_attributes(version)) == 8 * members

    def test_refuse_tcp_signals_and_abstract_sockets_where_the_kernel_can(self) -> None:
        assert struct.unpack("=QQQ", landlock.ruleset_attributes(6))[1:] == (3, 3)


class TestGrantedRights:
    def test_execute_nothing_anywhere(self) -> None:
        granted = landlock.LIBRARY | landlock.DEVICE | landlock.SCRATCH
        assert not granted & landlock.EXECUTE

    def test_make_no_links_pipes_sockets_or_devices(self) -> None:
        special = sum(1 << bit for bit in (6, 9, 10, 11, 12))
        assert not (landlock.LIBRARY | landlock.DEVICE | landlock.SCRATCH) & special

    def test_leave_libraries_as_they_are(self) -> None:
        assert landlock.LIBRARY == landlock.READ_FILE | landlock.READ_DIR
