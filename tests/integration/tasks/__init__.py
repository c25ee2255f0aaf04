"""The 20 tasks that templates, the assistant and the offline builder are measured by."""

import pytest

pytest.register_assert_rewrite("tests.integration.tasks.cases", "tests.integration.tasks.world")
