"""What tries from an address are counted by."""

import pytest

from headgate.features.accounts.addresses import counted


class TestCounted:
    @pytest.mark.parametrize(
        ("address", "by"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
            ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
            ("fe80::1%eth0", "fe80::/64"),
            ("::1", "::/64"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("testclient", "testclient"),
            ("", ""),
            (None, ""),
        ],
    )
    def test_is_the_network_of_one_subscriber(self, address: str | None, by: str) -> None:
        assert counted(address) == by
