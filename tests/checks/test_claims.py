import time

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


def weighed(output, *evidence):
    return [str(claim.status) for claim in claims.weigh(claims.of(output), evidence)]


class TestWhatPartsAClaimFromTheEvidence:
    @pytest.mark.parametrize(
        "negation",
        [
            "don't",
            "weren't",
            "wouldn't",
            "shouldn\u2019t",
            "hadn't",
            "mustn\u02bct",
            "needn`t",
            "dont",
            "mustnt",
        ],
    )
    def test_any_negation(self, negation):
        assert weighed(f"You {negation} pay the fee.", "You pay the fee.") == ["contradicted"]

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("03.05.2025", "03.05.2026"),
            ("03/05/2025", "03/05/2026"),
            ("version 1.2.3", "version 1.2.4"),
            ("10.0.0.7", "10.0.9.9"),
            ("\u2212500 euros", "500 euros"),
            ("twenty-one cases", "twenty cases"),
            ("½ cup", "¼ cup"),
            ("€1,234.50", "$1,234.50"),
            ("9 am", "9 pm"),
            ("55 hours", "55 minutes"),
            ("room 101A", "room 101B"),
        ],
    )
    def test_another_figure(self, one, other):
        assert weighed(f"The value is {one}.", f"The value is {other}.") == ["contradicted"]
        assert weighed(f"The value is {one}.", f"The value is {one}.") == ["supported"]

    @pytest.mark.parametrize(("one", "other"), [("20%", "20"), ("20", "20%"), ("55 minutes", "55")])
    def test_a_unit_more_or_less_is_no_support(self, one, other):
        assert weighed(f"The value of it is {one}.", f"The value of it is {other}.") == ["unsupported"]

    def test_a_figure_of_another_sentence(self):
        evidence = "The new dose was given to 62 patients of the first ward. The old dose was given to 58."
        assert weighed("The new dose was given to 58 patients of the first ward.", evidence) != ["supported"]

    def test_a_statement_of_another_case_denies_nothing(self):
        evidence = ["Crate 1 holds 7 bolts.", "Crate 2 holds no bolts.", "Crate 3 holds 9 bolts."]
        assert weighed("Crate 1 holds 7 bolts.", *evidence) == ["supported"]
        assert weighed("Crate 1 holds 7 bolts.", " ".join(evidence)) == ["supported"]
        assert weighed("It was sold.", "It was sold.", "It was not sold.") == ["contradicted"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The system did not reject the request.", "The system accepted the request."),
        ("The system accepted the request.", "The system didn't reject the request."),
        ("The pool is 25 m long.", "The pool is 25 metres long."),
        ("It costs 1 234 euros.", "It costs 1,234 euros."),
        ("Twenty-one cases were seen.", "21 cases were seen."),
        ("It takes 2½ hours.", "It takes 2.5 hours."),
        ("It takes 120 minutes.", "It takes two hours."),
        ("Zero errors were found.", "No errors were found."),
        ("No errors were found.", "0 errors were found."),
    ],
)
def test_the_same_in_another_notation_is_supported(claim, evidence):
    assert weighed(claim, evidence) == ["supported"]


def test_a_negation_that_is_not_undone_still_denies():
    assert weighed("The system did not accept the request.", "The system accepted the request.") == [
        "contradicted"
    ]
    assert weighed("Zero errors were found.", "5 errors were found.") == ["contradicted"]


OWED = '[{"name": "Ann", "owes": 30}, {"name": "Bob", "owes": 40}]'
SWAPPED = '[{"name": "Ann", "owes": 40}, {"name": "Bob", "owes": 30}]'
TABLE = "| name | owes |\n|---|---|\n| Ann | {} |\n| Bob | {} |"
FERRY = "The ferry leaves from pier 3. Its duration is 55 minutes."


class TestRecords:
    @pytest.mark.parametrize("evidence", [OWED, TABLE.format(30, 40), "Ann owes 30. Bob owes 40."])
    @pytest.mark.parametrize("good", [OWED, TABLE.format(30, 40), '{"name": "Ann", "owes": 30}'])
    def test_a_value_belongs_to_what_it_stands_with(self, good, evidence):
        assert set(weighed(good, evidence)) == {"supported"}

    @pytest.mark.parametrize("evidence", [OWED, TABLE.format(30, 40), "Ann owes 30. Bob owes 40."])
    @pytest.mark.parametrize("bad", [SWAPPED, TABLE.format(40, 30), '{"name": "Ann", "owes": 40}'])
    def test_and_to_nothing_else(self, bad, evidence):
        assert "supported" not in weighed(bad, evidence)

    def test_values_swapped_between_fields_are_no_support(self):
        assert weighed('{"width": 3, "height": 5}', '{"width": 5, "height": 3}') != ["supported"]
        assert weighed('{"aOk": true, "bOk": false}', '{"aOk": false, "bOk": true}') != ["supported"]

    def test_a_single_object_beside_prose_is_weighed_field_by_field(self):
        assert weighed('{"pier": 3, "duration": "55 minutes"}', FERRY) == ["supported"]
        assert weighed('{"pier": 3, "duration": "50 minutes"}', FERRY) == ["contradicted"]
        assert weighed('{"pier": 3, "captain": "Ann"}', FERRY) == ["unsupported"]

    def test_prose_beside_a_table_counts_as_prose(self):
        evidence = f"{FERRY}\n\n{TABLE.format(30, 40)}"
        assert weighed('{"pier": 3, "duration": "55 minutes"}', evidence) == ["supported"]
        assert "supported" not in weighed(SWAPPED, evidence)

    def test_what_a_list_holds_is_told_with_what_holds_the_list(self):
        orders = '[{{"id": 5, "lines": [{{"item": "nut", "n": {}}}]}}, {{"id": 6, "lines": [{{"item": "nut", "n": {}}}]}}]'
        assert set(weighed(orders.format(3, 9), orders.format(3, 9))) == {"supported"}
        assert "contradicted" in weighed(orders.format(3, 9), orders.format(9, 3))


class TestManyStatements:
    TEXT = " ".join(
        f"Crate {n} holds {n * 7 + 1} bolts of the kind {chr(65 + n % 26)}{n}." for n in range(90)
    )

    def test_a_copy_of_the_evidence_is_supported(self):
        assert weighed(self.TEXT, self.TEXT) == ["supported"] * claims.MAX_CLAIMS

    def test_a_copy_of_what_holds_no_word_of_weight_is_supported(self):
        assert weighed("So it is. As it was.", "As it was. " + self.TEXT + " So it is.") == ["supported"] * 2
        assert weighed("So it is.", "As it was.") == ["unsupported"]

    def test_one_wrong_part_makes_a_claim_wrong_and_no_other(self):
        found = weighed(self.TEXT.replace("holds 351 bolts", "holds 352 bolts"), self.TEXT)
        assert (found.count("contradicted"), found.count("supported")) == (1, claims.MAX_CLAIMS - 1)

    def test_one_part_without_support_leaves_its_claim_without(self):
        found = claims.weigh(claims.of(self.TEXT + " The harbour master was asked."), [self.TEXT])
        assert (found[-1].status, found[-1].evidence) == ("unsupported", None)
        assert found[-1].text.endswith("The harbour master was asked.")

    @pytest.mark.parametrize(
        "line",
        ["Crate {} holds {} bolts of steel. ", "Pump valve {}{}. ", "Aa{} bb{}. ", "On {} May 1{} it was. "],
    )
    def test_the_longest_texts_stay_within_a_bound(self, line):
        output = "".join(line.format(n % 97, n) for n in range(2_000))[:16_000]
        evidence = ["".join(line.format(n % 89, n + k) for n in range(500))[:4_000] for k in range(20)]
        started = time.process_time()
        claims.weigh(claims.of(output), evidence)
        assert time.process_time() - started < 8  # about one second on a quiet machine


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
