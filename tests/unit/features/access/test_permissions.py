"""The table of permissions."""

import re
from itertools import pairwise

from headgate.features.access.permissions import (
    EVERYTHING,
    MEMBER,
    TABLE,
    Permission,
    Role,
    TenantRole,
    is_of_space,
    of_role,
    of_tenant_role,
)


class TestTable:
    def test_has_every_permission(self) -> None:
        assert set(TABLE) == set(Permission) == EVERYTHING

    def test_stands_in_the_order_of_the_permissions(self) -> None:
        assert list(TABLE) == list(Permission)

    def test_goes_from_the_least_role_to_the_greatest(self) -> None:
        order: list[Role | TenantRole] = [*TenantRole, *Role]
        places = [order.index(rule.least) for rule in TABLE.values()]
        assert places == sorted(places)

    def test_says_what_each_allows_in_a_sentence(self) -> None:
        assert [each for each in Permission if not re.fullmatch(r"[A-Z].+\.", TABLE[each].allows)] == []

    def test_names_each_by_resource_and_verb(self) -> None:
        assert [each for each in Permission if not re.fullmatch(r"[a-z_]+\.[a-z]+", each.value)] == []


class TestRoles:
    def test_of_a_space_each_allow_more_than_the_one_before(self) -> None:
        allowed = [of_role(role) for role in Role]
        assert all(less < more for less, more in pairwise(allowed))

    def test_of_the_tenant_each_allow_more_than_the_one_before(self) -> None:
        assert of_tenant_role(TenantRole.MEMBER) < of_tenant_role(TenantRole.ADMIN)

    def test_share_out_everything(self) -> None:
        admin, owner = of_tenant_role(TenantRole.ADMIN), of_role(Role.OWNER)
        assert admin | owner == EVERYTHING
        assert admin & owner == frozenset()
        assert all(is_of_space(one) for one in owner)
        assert not any(is_of_space(one) for one in admin)

    def test_of_a_member_let_nobody_see_into_a_space(self) -> None:
        assert of_tenant_role(TenantRole.MEMBER) == MEMBER
        assert not any(is_of_space(permission) for permission in MEMBER)

    def test_of_a_viewer_change_nothing(self) -> None:
        assert {one.value.rpartition(".")[2] for one in of_role(Role.VIEWER)} == {"view", "comment"}
