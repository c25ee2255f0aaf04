from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.foundation.guarded_http import AddressPolicy, AddressRefused

PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "2a00:1450::1"]
REFUSED = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.0.0.1": "private",
    "100.64.0.1": "RFC 6598",
    "100.100.100.200": "cloud",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "169.254.169.254": "link-local",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "168.63.129.16": "cloud",
    "192.0.0.192": "cloud",
    "192.0.2.1": "documentation",
    "192.168.1.1": "private",
    "198.18.0.1": "reserved",
    "203.0.113.9": "documentation",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::7f00:1": "inside an IPv6",
    "::ffff:127.0.0.1": "inside an IPv6",
    "::ffff:8.8.8.8": "inside an IPv6",
    "64:ff9b::7f00:1": "inside an IPv6",
    "64:ff9b:1::a00:1": "inside an IPv6",
    "2002:7f00:1::": "inside an IPv6",
    "2001:0:4136:e378:8000:63bf:80ff:fffe": "inside an IPv6",
    "2a00::5efe:10.0.0.1": "inside an IPv6",
    "2a00::200:5efe:10.0.0.1": "inside an IPv6",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "2001:20::1": "reserved",
    "fc00::1": "private",
    "fd00:ec2::254": "cloud",
    "fe80::1": "link-local",
    "fec0::1": "private",
    "ff02::1": "multicast",
    "100::1": "reserved",
    "5f00::1": "reserved",
    "4000::1": "reserved",
    "2606:4700::1%eth0": "network interface",
}


def policy(*networks: str) -> AddressPolicy:
    return AddressPolicy([ip_network(network) for network in networks])


class TestAddressPolicy:
    @pytest.mark.parametrize("address", PUBLIC)
    def test_lets_public_addresses_through(self, address: str) -> None:
        assert policy().refusal(ip_address(address)) is None

    @pytest.mark.parametrize(("address", "reason"), REFUSED.items())
    def test_says_why_an_address_is_refused(self, address: str, reason: str) -> None:
        assert reason in (policy().refusal(ip_address(address)) or "")

    @given(st.ip_addresses())
    def test_refuses_whatever_python_calls_private(self, address: IPv4Address | IPv6Address) -> None:
        if address.is_private or address.is_multicast or address.is_loopback or address.is_link_local:
            assert policy().refusal(address) is not None

    @given(st.ip_addresses(v=4))
    def test_refuses_every_ipv4_address_written_inside_an_ipv6_one(self, address: IPv4Address) -> None:
        number = int(address)
        forms = [number, (0xFFFF << 32) | number, (0x64FF9B << 96) | number, (0x2002 << 112) | (number << 80)]
        assert all(policy().refusal(IPv6Address(form)) for form in forms)

    def test_names_host_reason_and_setting_and_no_address_of_the_inside(self) -> None:
        with pytest.raises(AddressRefused) as caught:
            policy().require(ip_address("10.1.2.3"), "intranet.example")
        assert caught.value.detail.startswith("Connections to intranet.example are not allowed")
        assert "10.1.2.3" not in f"{caught.value} {caught.value.remedy}", "it tells how the inside is built"
        assert "private" in caught.value.detail
        assert "HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS" in caught.value.remedy

    @pytest.mark.parametrize(
        ("network", "address"),
        [("10.0.0.0/8", "10.9.9.9"), ("127.0.0.1/32", "127.0.0.1"), ("fd00::/8", "fd12::1"), ("::1/128", "::1")],
    )
    def test_opens_listed_networks(self, network: str, address: str) -> None:
        assert policy(network).refusal(ip_address(address)) is None

    def test_opens_nothing_beside_the_listed_network(self) -> None:
        assert policy("10.0.0.0/24").refusal(ip_address("10.0.1.1")) is not None

    @pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "0.0.0.0"])
    def test_does_not_open_loopback_or_link_local_for_a_network_that_merely_covers_them(self, address: str) -> None:
        assert policy("0.0.0.0/0").refusal(ip_address(address)) is not None

    @pytest.mark.parametrize(
        "address",
        ["168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
         "fd00:42::42", "fd00:c1::a9fe:a9fe", "::ffff:169.254.169.254", "64:ff9b::100.100.100.200"],
    )  # fmt: skip
    def test_does_not_open_the_clouds_own_services_for_a_network_that_merely_covers_them(self, address: str) -> None:
        wide = policy("0.0.0.0/0", "::/0", "100.64.0.0/10", "192.0.0.0/24", "fc00::/7")
        assert wide.refusal(ip_address(address)) is not None
        assert wide.refusal(ip_address("fd00:ec3::254")) is None

    def test_opens_a_service_of_the_cloud_that_is_listed_by_itself(self) -> None:
        assert policy("100.100.100.200/32").refusal(ip_address("100.100.100.200")) is None

    def test_checks_the_inner_address_of_a_listed_translation_prefix(self) -> None:
        listed = policy("64:ff9b::/96")
        assert listed.refusal(ip_address("64:ff9b::8.8.8.8")) is None
        assert listed.refusal(ip_address("64:ff9b::10.0.0.1")) == "private"

    def test_does_not_take_a_mapped_form_of_a_listed_ipv4_network(self) -> None:
        assert policy("127.0.0.0/8").refusal(ip_address("::ffff:127.0.0.1")) is not None

    def test_refuses_a_scope_even_in_a_listed_network(self) -> None:
        assert policy("fe80::/10").refusal(ip_address("fe80::1%eth0")) is not None
