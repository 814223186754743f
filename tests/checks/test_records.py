"""Verdicts as rows: written once, in two statements, never changed; and what is read back from them."""

from dataclasses import replace

import pytest
from django.db import IntegrityError, transaction

from checks import verdicts
from checks.judging import judge
from checks.models import Answer as Row
from checks.models import CheckLimits, Verdict
from checks.questions import Answer, Limits, sentence
from checks.records import AppendOnlyError
from tests.checks.vendor import ALL_WELL, BOTH, CHOICE, QUESTIONS, RUBRIC, STATES, YES_NO, Scripted, down
from tests.checks.vendor import material as example

pytestmark = pytest.mark.django_db

MIXED = (
    Answer(probability=0.62),
    Answer(
        name="hedges",
        confidence=0.9,
        probabilities={"states": 0.03, "hedges": 0.94, "unclear": 0.03},
        vendor_confidence=0.5,
    ),
    BOTH,
)


def judgement(*script, **changes):
    return replace(
        judge(example(), QUESTIONS, Limits(), evaluator=Scripted(*(script or (ALL_WELL,)))), **changes
    )


class TestRecord:
    def test_takes_two_statements(self, django_assert_num_queries):
        it = judgement(MIXED)
        with transaction.atomic(), django_assert_num_queries(2):
            verdicts.record(it)

    def test_an_error_takes_one(self, django_assert_num_queries):
        it = judgement(down())
        with transaction.atomic(), django_assert_num_queries(1):
            row = verdicts.record(it)
        assert (row.verdict, row.error, row.answers.count()) == ("error", "the evaluator is down", 0)

    def test_keeps_everything(self):
        it = judgement(MIXED, advisory=True, truncated=True)
        row = Verdict.objects.get(pk=verdicts.record(it).pk)
        for name in (
            "verdict", "advisory", "model", "evaluator", "evaluator_version", "method", "is_model", "digest", "truncated",
            "least_sure", "error", "asked", "milliseconds", "at",
        ):  # fmt: skip
            assert getattr(row, name) == getattr(it, name), name

    def test_keeps_every_answer_with_its_thresholds(self):
        yes_no, choice, rubric = verdicts.record(judgement(MIXED)).answers.all()
        assert (yes_no.probability, yes_no.pass_at, yes_no.fail_below, yes_no.confidence_asked) == (
            0.62,
            0.9,
            0.5,
            None,
        )
        assert (yes_no.result, yes_no.options, yes_no.ask) == ("unsure", [], YES_NO.ask)
        assert (choice.name, choice.confidence, choice.vendor_confidence) == ("hedges", 0.9, 0.5)
        assert choice.confidence_asked == 0.8
        assert choice.options == [
            {"name": "states", "text": CHOICE.options["states"], "leads": "pass", "probability": 0.03},
            {"name": "hedges", "text": CHOICE.options["hedges"], "leads": "fail", "probability": 0.94},
            {"name": "unclear", "text": CHOICE.options["unclear"], "leads": "unsure", "probability": 0.03},
        ]
        assert (rubric.level, rubric.confidence, rubric.result) == (2, 0.95, "pass")
        assert [option["leads"] for option in rubric.options] == ["fail", "fail", "pass"]
        assert [option["text"] for option in rubric.options] == list(RUBRIC.levels)

    def test_rolls_back_with_its_caller(self):
        it = judgement()
        with transaction.atomic():
            verdicts.record(it)
            transaction.set_rollback(True)
        assert Verdict.objects.count() == Row.objects.count() == 0


class TestReadBack:
    def test_the_view_of_the_rows_is_the_view_of_the_judgement(self):
        it = judgement(MIXED)
        row = verdicts.record(it)
        row = Verdict.objects.get(pk=row.pk)
        view = verdicts.view(row, row.answers.all())
        assert view == {
            "verdict": "unsure",
            "advisory": False,
            "model": "scripted-1",
            "questions": [
                {"ask": YES_NO.ask, "kind": "yes_no", "answer": 0.62, "result": "unsure"},
                {
                    "ask": CHOICE.ask,
                    "kind": "choice",
                    "answer": "hedges",
                    "confidence": 0.9,
                    "result": "fail",
                },
                {"ask": RUBRIC.ask, "kind": "rubric", "answer": 2, "confidence": 0.95, "result": "pass"},
            ],
            "at": it.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def test_the_view_of_an_error_names_who_did_not_answer(self):
        row = verdicts.record(judgement(down(), advisory=True))
        view = verdicts.view(row, [])
        assert (view["verdict"], view["model"], view["questions"]) == ("error", "scripted", [])
        assert view["advisory"] is True

    def test_issue_lines(self):
        row = verdicts.record(judgement(MIXED))
        answers = list(row.answers.all())
        failed = f"check: {CHOICE.ask} → hedges (0.9)"
        assert verdicts.issue_lines_of(row, answers) == [failed]
        assert verdicts.issue_lines_of(row, answers, unsure=True) == [
            f"check: {YES_NO.ask} → no (0.62)",
            failed,
        ]

    def test_a_pass_and_an_error_have_no_lines(self):
        for script in (ALL_WELL, down()):
            row = verdicts.record(judgement(script))
            assert verdicts.issue_lines_of(row, row.answers.all(), unsure=True) == []

    def test_a_row_reads_as_a_sentence(self):
        row = verdicts.record(judgement((Answer(probability=0.62), STATES, BOTH)))
        assert sentence(row.answers.all()[0]) == "Model says 62 % yes; 90 % skips you, under 50 % sends back."


class TestAppendOnly:
    @pytest.fixture
    def row(self):
        return verdicts.record(judgement())

    @pytest.mark.parametrize(
        "change",
        [
            lambda row: row.save(),
            lambda row: row.save(update_fields=["verdict"]),
            lambda row: row.delete(),
            lambda _: Verdict.objects.update(verdict="pass"),
            lambda _: Verdict.objects.all().delete(),
            lambda row: Verdict.objects.bulk_update([row], ["verdict"]),
            lambda row: Verdict.objects.update_or_create(pk=row.pk, defaults={"verdict": "pass"}),
            lambda row: row.answers.all().delete(),
            lambda row: row.answers.update(result="pass"),
            lambda row: row.answers.first().delete(),
        ],
    )
    def test_nothing_is_changed_or_deleted(self, row, change):
        with pytest.raises(AppendOnlyError):
            change(row)
        assert Verdict.objects.get(pk=row.pk).answers.count() == 3

    @pytest.mark.parametrize(
        "wrong",
        [
            {"verdict": "maybe"},
            {"verdict": "pass", "least_sure": 0.5},
        ],
    )
    def test_the_database_refuses_a_verdict_that_is_none(self, wrong):
        values = {"evaluator": "e", "evaluator_version": "v", "method": "m", "digest": "d"} | wrong
        with pytest.raises(IntegrityError), transaction.atomic():
            Verdict.objects.create(**values)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"kind": "yes_no"},
            {"kind": "yes_no", "probability": 0.5, "name": "a"},
            {"kind": "choice", "probability": 0.5},
            {"kind": "choice", "name": "a", "level": 1},
            {"kind": "rubric", "name": "a"},
            {"kind": "free", "name": "a"},
            {"kind": "yes_no", "probability": 0.5, "result": "error"},
            {"kind": "yes_no", "probability": 0.5, "position": 0},
        ],
    )
    def test_the_database_refuses_an_answer_that_fits_no_kind(self, row, wrong):
        values = {"verdict": row, "position": 9, "ask": "?", "result": "pass"} | wrong
        with pytest.raises(IntegrityError), transaction.atomic():
            Row.objects.create(**values)

    def test_limits_are_records_too(self):
        limits = CheckLimits.objects.create(why="first", by="ada")
        with pytest.raises(AppendOnlyError):
            limits.save()
        with pytest.raises(AppendOnlyError):
            limits.delete()
