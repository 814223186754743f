import pytest
from django.db import IntegrityError, transaction

from checks import limits
from checks.models import CheckLimits
from checks.questions import Limits

pytestmark = pytest.mark.django_db


def test_without_a_row_the_profile_rules(django_assert_num_queries):
    with django_assert_num_queries(1):
        assert limits.current() == Limits(
            check_pass=0.9, check_fail=None, check_confidence=0.8, check_state_bytes=65_536
        )


def test_the_newest_row_is_in_force(django_assert_num_queries):
    CheckLimits.objects.create(
        check_pass=0.95, check_fail=0.4, check_confidence=0.7, check_state_bytes=2048, why="a", by="ada"
    )
    CheckLimits.objects.create(check_pass=0.85, why="b", by="ada")
    with django_assert_num_queries(1):
        assert limits.current() == Limits(check_pass=0.85)


@pytest.mark.parametrize(
    "wrong",
    [
        {"check_pass": 1.1},
        {"check_pass": -0.1},
        {"check_confidence": 80},
        {"check_confidence": -0.1},
        {"check_fail": 0.95},
        {"check_fail": -0.1},
        {"check_state_bytes": 1023},
    ],
)
def test_the_database_refuses_limits_that_are_none(wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        CheckLimits.objects.create(**({"why": "a", "by": "ada"} | wrong))
