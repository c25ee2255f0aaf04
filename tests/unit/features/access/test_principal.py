"""What a principal may do: roles, an admin, and API keys that cut both down."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import TABLE, Permission, Role, TenantRole, is_of_space, of_role
from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL, Access, Principal, system_principal
from headgate.foundation.errors import NotFound

SPACES = ("one", "two", "three")
OF_ADMINS = frozenset(one for one, rule in TABLE.items() if rule.least is TenantRole.ADMIN)
BEYOND_SPACES = OF_ADMINS | {Permission.SPACES_CREATE, Permission.WORKSPACE_USE}
"""What a key that is for some spaces never does."""
OF_TENANT = frozenset(one for one in Permission if not is_of_space(one))

space_ids = st.sampled_from(SPACES)
permissions = st.sampled_from(list(Permission))
scopes = st.none() | st.frozensets(permissions)
key_spaces = st.none() | st.frozensets(space_ids)
roles = st.dictionaries(space_ids, st.sampled_from(list(Role)))
accesses = st.builds(Access, admin=st.booleans(), roles=roles, scopes=scopes, spaces=key_spaces)


def person(access: Access) -> Principal:
    return Principal(tenant_id=DEFAULT_TENANT_ID, user_id="somebody", space_id="one", access=access)


class Hidden(NotFound):
    """There is no such thing."""


class TestMember:
    @pytest.mark.parametrize("role", Role)
    def test_has_the_permissions_of_the_role_in_their_space_only(self, role: Role) -> None:
        somebody = person(Access(roles={"one": role}))
        for permission in Permission:
            if is_of_space(permission):
                assert somebody.may(permission, "one") == (permission in of_role(role))
                assert not somebody.may(permission, "two")
                assert not somebody.may(permission)
            else:
                assert somebody.may(permission) == (permission not in OF_ADMINS)

    def test_sees_the_spaces_of_their_roles(self) -> None:
        somebody = person(Access(roles={"one": Role.OWNER, "two": Role.VIEWER}))
        assert somebody.visible_spaces == frozenset({"one", "two"})
        assert not somebody.sees("three")

    def test_of_no_space_sees_no_space(self) -> None:
        assert person(Access()).visible_spaces == frozenset()

    def test_has_a_permission_somewhere_when_one_role_has_it(self) -> None:
        somebody = person(Access(roles={"one": Role.VIEWER, "two": Role.EDITOR}))
        assert somebody.may_somewhere(Permission.FLOWS_EDIT)
        assert not somebody.may_somewhere(Permission.FLOWS_PUBLISH)
        assert not person(Access()).may_somewhere(Permission.FLOWS_VIEW)


class TestAdmin:
    def test_may_do_everything_in_every_space(self) -> None:
        assert LOCAL.visible_spaces is None
        assert all(LOCAL.may(one, "any" if is_of_space(one) else None) for one in Permission)

    def test_with_a_key_for_spaces_sees_only_these(self) -> None:
        admin = person(Access(admin=True, spaces=frozenset({"one"})))
        assert admin.visible_spaces == frozenset({"one"})
        assert not admin.sees("two")
        for permission in Permission:
            assert admin.may(permission, "one") == (permission not in BEYOND_SPACES)
            assert not (is_of_space(permission) and admin.may(permission, "two"))

    def test_with_a_key_for_no_space_does_nothing_in_any(self) -> None:
        admin = person(Access(admin=True, spaces=frozenset()))
        assert not any(admin.may_somewhere(one) for one in Permission if is_of_space(one))

    def test_system_is_one(self) -> None:
        headgate = system_principal(DEFAULT_TENANT_ID)
        assert headgate.visible_spaces is None
        assert all(headgate.may(one, "any") for one in Permission)


class TestKey:
    @given(accesses, permissions, space_ids)
    def test_never_widens(self, access: Access, permission: Permission, space_id: str) -> None:
        with_key, without = person(access), person(replace(access, scopes=None, spaces=None))
        for where in (space_id, None):
            assert without.may(permission, where) or not with_key.may(permission, where)
        assert without.sees(space_id) or not with_key.sees(space_id)
        assert without.may_somewhere(permission) or not with_key.may_somewhere(permission)

    @given(accesses, scopes, key_spaces, space_ids)
    def test_narrowed_further_allows_no_more(
        self, access: Access, fewer: frozenset[Permission] | None, less: frozenset[str] | None, space_id: str
    ) -> None:
        narrow = replace(
            access,
            scopes=fewer if access.scopes is None else access.scopes & (fewer or access.scopes),
            spaces=less if access.spaces is None else access.spaces & (less or access.spaces),
        )
        assert access.sees(space_id) or not narrow.sees(space_id)
        assert narrow.granted(space_id) <= access.granted(space_id)

    @given(accesses, permissions, space_ids)
    def test_for_scopes_allows_nothing_outside_them(
        self, access: Access, permission: Permission, space_id: str
    ) -> None:
        if access.scopes is None or permission in access.scopes:
            return
        somebody = person(access)
        assert not somebody.may(permission, space_id)
        assert not somebody.may_somewhere(permission)
        with pytest.raises(PermissionMissing) as caught:
            somebody.require_scope(permission)
        assert caught.value.extra == {"permission": permission.value}

    @given(accesses, permissions)
    def test_for_spaces_does_nothing_beyond_them(self, access: Access, permission: Permission) -> None:
        """The audit log and the people of a tenant reach over all its spaces, which such a key does not."""
        if access.spaces is not None:
            assert access.granted().isdisjoint(BEYOND_SPACES)


class TestAccess:
    @given(accesses, space_ids, permissions)
    def test_is_what_the_principal_may(self, access: Access, space_id: str, permission: Permission) -> None:
        somebody = person(access)
        for where in (space_id, None):
            assert somebody.may(permission, where) == (permission in access.granted(where))

    @given(accesses, space_ids)
    def test_lists_the_spaces_it_sees(self, access: Access, space_id: str) -> None:
        assert access.sees(space_id) == (access.visible is None or space_id in access.visible)

    @given(accesses, space_ids)
    def test_allows_in_a_hidden_space_what_it_allows_without_one(self, access: Access, space_id: str) -> None:
        assert access.granted() <= access.granted(space_id)
        if not access.sees(space_id):
            assert access.granted(space_id) == access.granted()

    @given(accesses)
    def test_allows_nothing_of_a_space_without_one(self, access: Access) -> None:
        assert access.granted() <= OF_TENANT

    @given(accesses, space_ids, st.sampled_from(list(Role)))
    def test_with_a_greater_role_is_never_less(self, access: Access, space_id: str, role: Role) -> None:
        less = replace(access, roles={**access.roles, space_id: role})
        for greater in list(Role)[list(Role).index(role) :]:
            more = replace(access, roles={**access.roles, space_id: greater})
            assert less.granted(space_id) <= more.granted(space_id)
        assert less.granted(space_id) <= replace(less, admin=True).granted(space_id)

    @given(accesses, permissions)
    def test_somewhere_is_in_some_space(self, access: Access, permission: Permission) -> None:
        if is_of_space(permission):
            found = any(permission in access.granted(one) for one in SPACES)
            assert person(access).may_somewhere(permission) == found


class TestRequireIn:
    @given(accesses, permissions, space_ids)
    def test_hides_then_refuses_then_allows(self, access: Access, permission: Permission, space_id: str) -> None:
        somebody, hidden = person(access), Hidden("There is none.")
        if not access.sees(space_id):
            with pytest.raises(Hidden) as caught:
                somebody.require_in(space_id, permission, hidden)
            assert caught.value is hidden
        elif permission not in access.granted(space_id):
            with pytest.raises(PermissionMissing) as refused:
                somebody.require_in(space_id, permission, hidden)
            assert refused.value.extra == {"permission": permission.value}
        else:
            somebody.require_in(space_id, permission, hidden)


class TestRefusals:
    @given(accesses, permissions)
    def test_without_a_space_are_of_what_is_not_granted(self, access: Access, permission: Permission) -> None:
        somebody = person(access)
        for require, may in (
            (somebody.require, somebody.may(permission)),
            (somebody.require_somewhere, somebody.may_somewhere(permission)),
            (somebody.require_scope, access.scopes is None or permission in access.scopes),
        ):
            if may:
                require(permission)
            else:
                with pytest.raises(PermissionMissing):
                    require(permission)

    @pytest.mark.parametrize(
        ("access", "blamed"),
        [
            (Access(roles={"one": Role.VIEWER}), "You lack"),
            (Access(roles={"one": Role.VIEWER}, scopes=frozenset({Permission.FLOWS_EDIT})), "You lack"),
            (Access(roles={"one": Role.VIEWER}, scopes=frozenset()), "You lack"),
            (Access(roles={"one": Role.EDITOR}, scopes=frozenset()), "Your API key lacks"),
            (Access(admin=True, scopes=frozenset({Permission.FLOWS_VIEW})), "Your API key lacks"),
        ],
    )
    def test_blame_the_key_only_when_the_person_has_it(self, access: Access, blamed: str) -> None:
        with pytest.raises(PermissionMissing, match=f"{blamed} the permission 'flows.edit'"):
            person(access).require_in("one", Permission.FLOWS_EDIT, Hidden("There is none."))

    @pytest.mark.parametrize(
        ("permission", "told"),
        [
            (
                Permission.FLOWS_PUBLISH,
                ("Publishers and owners of the space have this permission, and so do admins. Ask an owner"),
            ),
            (Permission.SPACES_MANAGE, "Owners of the space have this permission"),
            (Permission.RUNS_START, "Runners, editors, publishers and owners of the space"),
            (Permission.RUNS_TEST, '"version": "published"'),
            (Permission.AUDIT_VIEW, "Admins of your organisation have this permission."),
        ],
    )
    def test_say_who_has_what_is_missing(self, permission: Permission, told: str) -> None:
        assert told in (PermissionMissing(permission).remedy or "")
        assert "scope" in (PermissionMissing(permission, by_key=True).remedy or "")

    def test_blame_a_key_for_spaces_for_what_it_takes_from_an_admin(self) -> None:
        admin = person(Access(admin=True, spaces=frozenset({"one"})))
        with pytest.raises(PermissionMissing, match="Your API key lacks"):
            admin.require(Permission.AUDIT_VIEW)
