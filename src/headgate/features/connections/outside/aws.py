"""AWS Secrets Manager. Credentials of the server's process are found by AWS's own library."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

import orjson

from headgate.features.connections.errors import VaultFailed
from headgate.features.connections.outside.store import (
    CloudStore,
    StoreHttp,
    answer_of,
    identity_failed,
    json_of,
    member_at,
    member_of,
)
from headgate.features.connections.sealed import OutsideValue
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import ConnectionSettings

if TYPE_CHECKING:
    from botocore import auth, awsrequest, exceptions, session
else:
    auth = lazy_module("botocore.auth")
    awsrequest = lazy_module("botocore.awsrequest")
    exceptions = lazy_module("botocore.exceptions")
    session = lazy_module("botocore.session")

SERVICE = "AWS"
STORE = CloudStore("AWS Secrets Manager", "aws_region", "aws-secrets", r"[A-Za-z0-9/_+=.@-]{1,512}")


class AwsSecrets:
    """The secrets of an AWS account in a region.

    Args:
        settings: The region and prefix.
        http: Reaches the service.
    """

    def __init__(self, settings: ConnectionSettings, http: StoreHttp) -> None:
        self._settings = settings
        self._http = http

    async def read(self, value: OutsideValue, *, tenant_id: str, space_id: str) -> str:
        """Return a secret or a member of it. Raises `VaultRefused`, `VaultFailed`, `ExtraNotInstalled`."""
        settings = self._settings
        name = STORE.name(settings, value, tenant_id=tenant_id, space_id=space_id)
        url = settings.aws_url or f"https://secretsmanager.{settings.aws_region}.amazonaws.com"
        body = orjson.dumps({"SecretId": name})
        try:
            headers = await asyncio.to_thread(self._signed, url, body)
        except exceptions.BotoCoreError as error:
            raise identity_failed(SERVICE, error) from error
        answer = await answer_of(self._http, url, headers, settings.test_seconds, body)
        if answer.status == 400 and b"ResourceNotFoundException" in answer.content:
            raise VaultFailed(f"The vault has no such value: {value}.", remedy="Check the name.")
        if answer.status == 400 and b"AccessDeniedException" in answer.content:
            raise VaultFailed(
                f"The vault refuses the identity of the server: {value}.",
                remedy="Ask the operator to allow it secretsmanager:GetSecretValue.",
            )
        return member_of(member_at(json_of(answer, value), ("SecretString",), value), value)

    def _signed(self, url: str, body: bytes) -> dict[str, str]:
        headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "secretsmanager.GetSecretValue"}
        request = awsrequest.AWSRequest("POST", f"{url.rstrip('/')}/", headers, body)
        credentials = self._session.get_credentials()
        if credentials is None:
            raise exceptions.NoCredentialsError
        auth.SigV4Auth(credentials, "secretsmanager", self._settings.aws_region).add_auth(request)
        return dict(request.headers.items())

    @cached_property
    def _session(self) -> "session.Session":
        return session.get_session()
