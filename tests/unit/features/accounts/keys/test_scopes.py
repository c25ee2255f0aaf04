"""What scopes of a key stand for."""

import pytest

from headgate.features.access.permissions import Permission, Role, TenantRole, of_role, of_tenant_role
from headgate.features.accounts.keys.errors import ScopeUnknown
from headgate.features.accounts.keys.scopes import expand, known, names


class TestExpand:
    def test_takes_every_permission_by_its_name(self) -> None:
        expanded = {permission: expand([permission.value]) for permission in Permission}
        assert expanded == {permission: {permission} for permission in Permission}

    @pytest.mark.parametrize("role", Role)
    def test_takes_a_role_of_a_space_for_all_it_may(self, role: Role) -> None:
        assert expand([role.value]) == of_role(role)

    @pytest.mark.parametrize("role", TenantRole)
    def test_takes_a_role_of_the_tenant_for_all_it_may(self, role: TenantRole) -> None:
        assert expand([role.value]) == of_tenant_role(role)

    def test_puts_several_together(self) -> None:
        assert expand(["runner", "account.view"]) == of_role(Role.RUNNER) | {Permission.ACCOUNT_VIEW}

    def test_refuses_what_it_does_not_know_and_names_the_nearest(self) -> None:
        with pytest.raises(ScopeUnknown, match=r"'runs.strat'.*Did you mean 'runs.start'"):
            expand(["runs.strat"])

    def test_tells_no_permission_from_a_role(self) -> None:
        assert len(names()) == len(set(names()))


class TestKnown:
    def test_allows_nothing_for_a_name_of_another_version(self) -> None:
        assert known(["runs.start", "moon.fly"]) == {Permission.RUNS_START}
