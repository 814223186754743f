import pytest

from checks import claims
from checks.claims import Claim, Status
from checks.evidence_text import told
from checks.questions import Answer
from tests.checks.labelled_claims import FRESH, SEEN

EVIDENCE = [
    "Nothing of it.",
    "The well is 42 metres deep. It was drilled on 6 October 2026 by Osei Drilling.",
]


def status(claim, evidence=EVIDENCE):
    (found,) = claims.weigh([claim], evidence)
    return str(found.status), found.evidence


class TestTheDeterministicEngine:
    @pytest.mark.parametrize(
        ("claim", "expected"),
        [
            ("The well is 42 metres deep.", ("supported", 1)),
            ("The well is 24 metres deep.", ("contradicted", 1)),
            ("The well is not 42 metres deep.", ("contradicted", 1)),
            ("The well was drilled on 2026-10-06.", ("supported", 1)),
            ("The well was drilled on October 6th, 2026.", ("supported", 1)),
            ("The well was drilled in October 2026.", ("supported", 1)),
            ("The well was drilled in 2026.", ("supported", 1)),
            ("The well was drilled on 7 October 2026.", ("contradicted", 1)),
            ("Osei Drilling drilled the well.", ("supported", 1)),
            ("The water is clean.", ("unsupported", None)),
            ("42", ("supported", 1)),
            ("43", ("unsupported", None)),
        ],
    )
    def test_says_of(self, claim, expected):
        assert status(claim) == expected

    def test_without_evidence_nothing_is_supported(self):
        assert status("The well is deep.", []) == ("unsupported", None)

    def test_its_confidence_is_a_share(self):
        for example in (*SEEN, *FRESH):
            (found,) = claims.weigh([example.claim], example.evidence)
            assert 0 <= found.confidence <= 1

    def test_the_labels_are_many_and_of_each_kind(self):
        assert len(SEEN) + len(FRESH) >= 60
        for status in Status:
            assert sum(example.status is status for example in FRESH) >= 9
        assert not {example.claim for example in SEEN} & {example.claim for example in FRESH}


class TestFiguresAndDates:
    @pytest.mark.parametrize(
        ("text", "numbers"),
        [
            ("1,200.50 and 3", {1200.5, 3}),
            ("2.4 million or 5k", {2_400_000, 5000}),
            ("two of twelve", {2, 12}),
            ("on 6 October 2026 at 5", {5}),
            ("v2", set()),
        ],
    )
    def test_numbers(self, text, numbers):
        assert set(map(float, told(text).numbers)) == numbers

    @pytest.mark.parametrize(
        ("text", "dates"),
        [
            ("2026-10-06T09:00:00Z", {"2026-10-06"}),
            ("6 Oct 2026", {"2026-10-06"}),
            ("Oct. 6, 2026", {"2026-10-06"}),
            ("the 6th of October", {"--10-06"}),
            ("October 2026", {"2026-10"}),
            ("45 March", set()),
        ],
    )
    def test_dates(self, text, dates):
        assert told(text).dates == dates

    def test_names(self):
        assert told("Yesterday Lena Vogt met the team of iRobot.").names >= {"lena", "vogt"}
        assert told("The pump is old.").names == frozenset()


class TestTheScore:
    def of(self, *statuses):
        return claims.score(
            [Claim(text="", status=Status(status), confidence=1.0, evidence=None) for status in statuses]
        )

    def test_is_the_share_supported_less_the_share_contradicted(self):
        assert self.of("supported", "supported", "unsupported", "unsupported") == 0.5
        assert self.of("supported", "supported", "contradicted", "unsupported") == 0.25
        assert self.of("supported", "contradicted", "contradicted") == 0.0
        assert self.of() == 0.0


class TestAModelsAnswers:
    def test_keep_status_confidence_and_the_nearest_item(self):
        answers = [Answer(name="supported", confidence=0.9), Answer(name="contradicted", confidence=0.5)]
        texts = ["The well is deep.", "The well is shallow."]
        first, second = claims.answered(texts, answers, EVIDENCE, least=0.8)
        assert (first.status, first.confidence, first.evidence) == ("supported", 0.9, 1)
        assert (second.status, second.confidence, second.evidence) == ("unsupported", 0.5, None)
