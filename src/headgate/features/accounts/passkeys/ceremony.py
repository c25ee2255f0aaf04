"""WebAuthn's own rules, by py_webauthn: an extra, imported when a passkey is first used.

User verification is always required: a passkey proves the device and the person (fingerprint, face or PIN).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import webauthn
from webauthn.helpers import exceptions, structs

from headgate.features.accounts.passkeys.errors import PasskeyNotAccepted, PasskeyRefused
from headgate.features.accounts.passkeys.place import Place
from headgate.features.accounts.tables import Passkey

TIMEOUT_MILLISECONDS = 300_000
FAILURES = (exceptions.WebAuthnException, ValueError, TypeError, KeyError, AttributeError)
"""What the library raises for an answer that is malformed or wrong."""


def registration_options(
    place: Place, *, handle: bytes, account: str, name: str, challenge: bytes, existing: Iterable[bytes]
) -> dict[str, Any]:
    """What the browser needs to make a passkey: one that is found without a name and verifies its user."""
    options = webauthn.generate_registration_options(
        rp_id=place.rp_id,
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
        exclude_credentials=[structs.PublicKeyCredentialDescriptor(id=one) for one in existing],
    )
    return _plain(options)


def read_registration(place: Place, credential: Mapping[str, Any], challenge: bytes) -> tuple[bytes, bytes, int]:
    """Credential id, public key and counter of a new passkey. Raises `PasskeyNotAccepted`."""
    try:
        made = webauthn.verify_registration_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=place.rp_id,
            expected_origin=place.origin,
            require_user_verification=True,
        )
    except FAILURES as error:
        raise PasskeyNotAccepted from error
    return made.credential_id, made.credential_public_key, made.sign_count


def request_options(place: Place, *, challenge: bytes) -> dict[str, Any]:
    """What the browser needs to use any passkey of this place: nobody's account is named."""
    options = webauthn.generate_authentication_options(
        rp_id=place.rp_id,
        challenge=challenge,
        timeout=TIMEOUT_MILLISECONDS,
        user_verification=structs.UserVerificationRequirement.REQUIRED,
    )
    return _plain(options)


def credential_id_of(credential: Mapping[str, Any]) -> bytes:
    """The id of the passkey that an answer is from. Raises `PasskeyRefused`."""
    try:
        return webauthn.base64url_to_bytes(credential["rawId"])
    except FAILURES as error:
        raise PasskeyRefused from error


def new_counter(place: Place, credential: Mapping[str, Any], challenge: bytes, passkey: Passkey) -> int:
    """Verify an answer; returns the passkey's counter. Raises `PasskeyRefused`, also for a counter that went back."""
    try:
        proven = webauthn.verify_authentication_response(
            credential=dict(credential),
            expected_challenge=challenge,
            expected_rp_id=place.rp_id,
            expected_origin=place.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except FAILURES as error:
        raise PasskeyRefused from error
    return proven.new_sign_count


def _plain(options: Any) -> dict[str, Any]:  # noqa: ANN401 - either kind of options
    found: dict[str, Any] = json.loads(webauthn.options_to_json(options))
    return found
