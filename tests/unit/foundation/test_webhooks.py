import hashlib
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook

from headgate.foundation.webhooks import BadWebhookSecret, delivery_key, signature_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class TestDeliveryKey:
    def test_is_the_hash_of_run_and_step(self) -> None:
        assert delivery_key("run", "step") == hashlib.sha256(b"runstep").hexdigest()
        assert delivery_key("run", "step") != delivery_key("run", "other")


class TestSignatureHeaders:
    def test_give_the_example_of_the_standard(self) -> None:
        found = signature_headers(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
        assert found == {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }

    def test_are_verified_by_the_standards_own_library(self) -> None:
        now = int(datetime.now(UTC).timestamp())
        body = '{"ä": 1}'.encode()
        assert Webhook(SECRET).verify(body, signature_headers(SECRET, "id", now, body)) == {"ä": 1}

    def test_take_any_other_text_as_the_key(self) -> None:
        one, other = (signature_headers(secret, "id", 1, b"") for secret in ("one", "other"))
        assert one["webhook-signature"] != other["webhook-signature"]

    def test_say_that_a_secret_is_cut(self) -> None:
        with pytest.raises(BadWebhookSecret, match="not base64"):
            signature_headers("whsec_abc", "id", 1, b"")
