"""Sign-in with a password, or with a one-time link that sets one.

Hashes are created and compared between two transactions, never inside one: no connection is held meanwhile. Data read
in the first transaction is checked again in the second.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.passwords.hashing import Passwords, is_outdated
from headgate.features.accounts.passwords.rules import check_password
from headgate.features.accounts.ports import Scope, Throttle
from headgate.features.accounts.second_factor import proof
from headgate.features.accounts.second_factor.errors import SecondFactorRefused
from headgate.features.accounts.second_factor.repository import is_required
from headgate.features.accounts.sessions import repository
from headgate.features.accounts.sessions.client import Client
from headgate.features.accounts.sessions.errors import (
    LinkRefused,
    NoPassword,
    OrganisationNeeded,
    PasswordWrong,
    SignInRefused,
)
from headgate.features.accounts.sessions.service import NewSession, find_current, name_of, newcomer, start_session
from headgate.features.accounts.sessions.tokens import hash_of
from headgate.features.accounts.tables import Tenant, User
from headgate.features.audit.recorder import record
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.settings import AccountSettings

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A signed-in user."""

    user: User
    tenant: Tenant
    session: NewSession
    second_factor_missing: bool = False
    """Whether the session can only be used to set up a second factor."""


@dataclass(frozen=True, slots=True)
class LinkOwner:
    """The user of a one-time link."""

    user: User
    tenant: Tenant


@dataclass(frozen=True)
class SignIn:
    """Sign-in of one server, including its pending audit entries of refused attempts."""

    database: Database
    passwords: Passwords
    throttle: Throttle
    settings: AccountSettings
    box: SecretBox
    _writing: set[asyncio.Task[None]] = field(default_factory=set)

    async def with_password(
        self,
        client: Client,
        *,
        email: str,
        password: str,
        organisation: str | None = None,
        code: str | None = None,
        replaces: str | None = None,
    ) -> SignedIn:
        """Start a session for a matching address and password.

        An unknown address takes as much work as a known one.

        Args:
            client: The client of the request.
            email: The e-mail address, in lower case.
            password: As typed.
            organisation: A tenant's name, when the address is known in several.
            code: The second factor, if any.
            replaces: The browser's previous token; its session ends.

        Raises:
            SignInRefused: For any reason.
            OrganisationNeeded: They match in several tenants.
            SecondFactorNeeded: The account has a second factor, and no code was sent.
            SecondFactorRefused: The code is wrong, expired or used.
            RateLimited: There were too many attempts.
        """
        await self._count_tries(client, email)
        async with self.database.reading() as session:
            candidates = await repository.users_of_address(session, email, organisation=organisation)
        fitting = await self._fitting(candidates, password)
        if not fitting:
            self._record_refusal([user for user, _ in candidates], client)
            raise SignInRefused
        if len(fitting) > 1:
            raise OrganisationNeeded([tenant.name for _, tenant in fitting])
        user, tenant = fitting[0]
        newer = await self._newer_hash(user, password)
        async with self._proving(user, client, code), self.database.writing() as session:
            locked = await repository.find_active(session, user.id, tenant_id=user.tenant_id, lock=True)
            if locked is None or locked.password_hash != user.password_hash:
                raise SignInRefused  # deactivated, or the password changed, during the comparison
            locked.password_hash = newer or locked.password_hash
            factor = await proof.prove(session, self.box, locked, code)
            missing = factor is None and await is_required(session, tenant_id=locked.tenant_id)
            new = await start_session(
                session,
                locked,
                self.settings,
                address=client.address,
                user_agent=client.user_agent,
                replaces=replaces,
                second_factor=factor,
            )
        return SignedIn(user=locked, tenant=tenant, session=new, second_factor_missing=missing)

    async def owner_of_link(self, client: Client, token: str) -> LinkOwner:
        """Return the user of a link. Raises `LinkRefused` and `RateLimited`."""
        await self.throttle.allow(Scope.LINK_ADDRESS, client.network)
        async with self.database.reading() as session:
            row = await repository.find_link(session, hash_of(token), at=now())
        if row is None:
            raise LinkRefused
        _, user, tenant = row
        return LinkOwner(user=user, tenant=tenant)

    async def with_link(self, client: Client, *, token: str, password: str, code: str | None = None) -> SignedIn:
        """Set the password of a link's user, end the user's sessions, and start one.

        A link replaces the password and never the second factor. Raises `LinkRefused` and `RateLimited`;
        `PasswordRefused`, `SecondFactorNeeded` and `SecondFactorRefused`, after which the link can still be used.
        """
        owner = await self.owner_of_link(client, token)
        check_password(password, own_words=(owner.user.email or "", owner.user.name))
        password_hash = await self.passwords.hash(password)
        at = now()
        async with self._proving(owner.user, client, code), self.database.writing() as session:
            row = await repository.find_link(session, hash_of(token), at=at)
            if row is None or not await repository.claim_link(session, row[0].id, tenant_id=row[0].tenant_id, at=at):
                raise LinkRefused
            user = await repository.find_active(session, row[1].id, tenant_id=row[1].tenant_id, lock=True)
            if user is None:
                raise LinkRefused
            factor = await proof.prove(session, self.box, user, code)
            missing = factor is None and await is_required(session, tenant_id=user.tenant_id)
            await _set_password(session, newcomer(user, client.address), user, password_hash)
            new = await start_session(
                session,
                user,
                self.settings,
                address=client.address,
                user_agent=client.user_agent,
                method="link",
                second_factor=factor,
            )
        return SignedIn(user=user, tenant=owner.tenant, session=new, second_factor_missing=missing)

    async def change_password(self, principal: Principal, *, token: str | None, current: str, new: str) -> None:
        """Change the caller's password; all sessions except that of the request end.

        Raises `NoPassword`, `PasswordWrong`, `PasswordRefused` and `RateLimited`.
        """
        await self.throttle.allow(Scope.PASSWORD_USER, principal.user_id)
        async with self.database.reading() as session:
            user = await repository.find_active(session, principal.user_id, tenant_id=principal.tenant_id)
        if user is None or user.password_hash is None:
            raise NoPassword
        if not await self.passwords.verify(user.password_hash, current):
            raise PasswordWrong
        check_password(new, own_words=(user.email or "", user.name))
        password_hash = await self.passwords.hash(new)
        async with self.database.writing() as session:
            locked = await repository.find_active(session, user.id, tenant_id=user.tenant_id, lock=True)
            if locked is None or locked.password_hash != user.password_hash:
                raise PasswordWrong
            here = await find_current(session, principal, token)
            await _set_password(session, principal, locked, password_hash, besides=None if here is None else here.id)

    async def close(self) -> None:
        """Wait for the pending audit entries."""
        await asyncio.gather(*self._writing)

    @asynccontextmanager
    async def _proving(self, user: User, client: Client, code: str | None) -> AsyncIterator[None]:
        """Count attempts of a second factor, and write refused ones to the audit log. Raises `RateLimited`."""
        if code is not None:
            await self.throttle.allow(Scope.SECOND_FACTOR_USER, user.id)
        try:
            yield
        except SecondFactorRefused:
            self._record_refusal([user], client)
            raise

    async def _count_tries(self, client: Client, email: str) -> None:
        await self.throttle.allow(Scope.SIGN_IN_ADDRESS, client.network)
        await self.throttle.allow(Scope.SIGN_IN_ACCOUNT_ADDRESS, f"{email} {client.network}")
        await self.throttle.allow(Scope.SIGN_IN_ACCOUNT, email)

    async def _fitting(self, candidates: Sequence[tuple[User, Tenant]], password: str) -> Sequence[tuple[User, Tenant]]:
        """Return the users with this password. Deactivated and unknown users are compared too."""
        if not candidates:
            await self.passwords.verify(None, password)
        matching = [
            candidate for candidate in candidates if await self.passwords.verify(candidate[0].password_hash, password)
        ]
        return [candidate for candidate in matching if candidate[0].active]

    async def _newer_hash(self, user: User, password: str) -> str | None:
        outdated = user.password_hash is not None and is_outdated(user.password_hash)
        return await self.passwords.hash(password) if outdated else None

    def _record_refusal(self, users: Sequence[User], client: Client) -> None:
        """Write the entry in the background: waiting for it would reveal that the account exists."""
        if users:
            task = asyncio.create_task(self._write_refused(users, client))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _write_refused(self, users: Sequence[User], client: Client) -> None:
        try:
            async with self.database.writing() as session:
                for user in sorted(users, key=lambda account: account.tenant_id):
                    await record(
                        session,
                        newcomer(user, client.address),
                        "user.sign_in_refused",
                        id=user.id,
                        name=name_of(user),
                        payload={"user_agent": client.user_agent},
                    )
        except HeadgateError as error:
            log.warning(
                "failed sign-in not written to the audit log", user_ids=[user.id for user in users], why=str(error)
            )


async def _set_password(
    session: AsyncSession, principal: Principal, user: User, password_hash: str, *, besides: str | None = None
) -> None:
    user.password_hash = password_hash
    await repository.delete_links(session, tenant_id=user.tenant_id, user_id=user.id)
    ended_count = await repository.delete_sessions(session, tenant_id=user.tenant_id, user_id=user.id, besides=besides)
    await record(
        session,
        principal,
        "user.password_changed",
        id=user.id,
        name=name_of(user),
        payload={"sessions_ended": ended_count},
    )
