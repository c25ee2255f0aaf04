"""WebAuthn ceremonies with py_webauthn: an extra, imported when a passkey is first used.

User verification is always required: a passkey proves the device and the user (fingerprint, face or PIN).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import webauthn
from webauthn.helpers import exceptions, structs

from headgate.features.accounts.passkeys.errors import PasskeyNotAccepted, PasskeyRefused
from headgate.features.accounts.passkeys.relying_party import RelyingParty
from headgate.features.accounts.tables import Passkey

TIMEOUT_MILLISECONDS = 300_000
FAILURES = (exceptions.WebAuthnException, ValueError, TypeError, KeyError, AttributeError)
"""Errors of the library for a malformed or wrong response."""


def registration_options(
    relying_party: RelyingParty, *, handle: bytes, account: str, name: str, challenge: bytes, existing: Iterable[bytes]
) -> dict[str, Any]:
    """Return the browser's options for creating a discoverable passkey with user verification."""
    options = webauthn.generate_registration_options(
        rp_id=relying_party.rp_id,
        rp_name="Headgate",
        user_id=handle,
        user_name=account,
        user_display_name=name,
        challenge=challenge,
        timeout=TIMEOUT_MILLISECONDS,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=credential_id) for credential_id in existing],
    )
    return _plain(options)


def read_registration(
    relying_party: RelyingParty, credential: Mapping[str, Any], challenge: bytes
) -> tuple[bytes, bytes, int]:
    """Return credential id, public key and counter of a new passkey. Raises `PasskeyNotAccepted`."""
    try:
        verified = webauthn.verify_registration_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=relying_party.rp_id,
            expected_origin=relying_party.origin,
            require_user_verification=True,
        )
    except FAILURES as error:
        raise PasskeyNotAccepted from error
    return verified.credential_id, verified.credential_public_key, verified.sign_count


def request_options(relying_party: RelyingParty, *, challenge: bytes) -> dict[str, Any]:
    """Return the browser's options for using any passkey of this relying party, without naming an account."""
    options = webauthn.generate_authentication_options(
        rp_id=relying_party.rp_id,
        challenge=challenge,
        timeout=TIMEOUT_MILLISECONDS,
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return _plain(options)


def credential_id_of(credential: Mapping[str, Any]) -> bytes:
    """Return the id of the passkey of a response. Raises `PasskeyRefused`."""
    try:
        return webauthn.base64url_to_bytes(credential["rawId"])
    except FAILURES as error:
        raise PasskeyRefused from error


def new_counter(relying_party: RelyingParty, credential: Mapping[str, Any], challenge: bytes, passkey: Passkey) -> int:
    """Verify a response; returns the passkey's counter. Raises `PasskeyRefused`, also for a decreased counter."""
    try:
        proven = webauthn.verify_authentication_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=relying_party.rp_id,
            expected_origin=relying_party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except FAILURES as error:
        raise PasskeyRefused from error
    return proven.new_sign_count


def _plain(options: Any) -> dict[str, Any]:  # noqa: ANN401 - either kind of options
    document: dict[str, Any] = json.loads(webauthn.options_to_json(options))
    return document
