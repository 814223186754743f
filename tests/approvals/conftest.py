"""A queue with cases in it, and who may decide on all of them."""

import pytest

from tests.approvals.builders import Desk


@pytest.fixture
def desk(world, evaluator):
    return Desk(world, evaluator)


@pytest.fixture
def ada(world):
    return world.user("ada", "Finance", "Support", "Procurement")
