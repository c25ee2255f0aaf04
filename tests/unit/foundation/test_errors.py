import re

import pytest

from headgate.foundation import errors
from headgate.foundation.errors import Conflict, HeadgateError, NotFound

TREE = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HeadgateError)]


class TestHeadgateError:
    def test_renders_a_problem_document(self) -> None:
        document = Conflict("The flow changed.", remedy="Reload it.", revision=7).problem()
        assert document == {
            "type": "https://headgate.dev/problems/conflict",
            "title": "Conflict",
            "status": 409,
            "code": "conflict",
            "detail": "The flow changed.",
            "remedy": "Reload it.",
            "revision": 7,
        }

    def test_leaves_an_empty_remedy_out(self) -> None:
        assert "remedy" not in NotFound("Gone.").problem()

    def test_reads_as_detail_and_remedy(self) -> None:
        assert str(NotFound("Gone.", remedy="Look elsewhere.")) == "Gone. Look elsewhere."
        assert str(NotFound("Gone.")) == "Gone."

    def test_has_the_words_of_its_code_as_title_where_it_has_no_other(self) -> None:
        class OrderClosed(Conflict):
            code = "order_closed"

        class OrderPaid(Conflict):
            code = "order_paid"
            title = "Paid"

        class OrderSent(OrderPaid):
            pass

        assert (OrderClosed.title, OrderPaid.title, OrderSent.title) == ("Order closed", "Paid", "Paid")

    def test_puts_the_name_in_the_place_of_the_text_of_its_class(self) -> None:
        class OrderMissing(NotFound):
            detail = "There is no order '{}'."
            remedy = "List them."

        assert str(OrderMissing("{7}")) == "There is no order '{7}'. List them."

    @pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
    def test_every_kind_has_a_stable_code_and_a_fitting_status(self, kind: type[HeadgateError]) -> None:
        assert re.fullmatch(r"[a-z][a-z_]+", kind.code)
        assert 400 <= kind.status <= 599
        assert kind.title

    def test_the_tree_in_the_docstring_is_the_real_one(self) -> None:
        drawn = dict(re.findall(r"[├└]── (\w+)\s+(\d{3})", errors.__doc__ or ""))
        assert drawn == {kind.__name__: str(kind.status) for kind in TREE if kind is not HeadgateError}
