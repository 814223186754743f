import pytest
from django.db import transaction
from django.utils import timezone

from checks import material
from checks.evaluators import Answers, EvaluatorError
from checks.judging import judge, version_of
from checks.questions import Answer, Limits, Verdict
from tests.checks.vendor import ALL_WELL, BOTH, QUESTIONS, STATES, YES, Scripted, down
from tests.checks.vendor import material as example

UNSURE = (Answer(probability=0.7), STATES, BOTH)
pytestmark = pytest.mark.django_db


def judged(*script, limits=None, **options):
    evaluator = Scripted(*script)
    return judge(example(), QUESTIONS, limits or Limits(), evaluator=evaluator, **options), evaluator


class TestAVerdict:
    def test_says_everything_that_produced_it(self):
        before = timezone.now()
        it, evaluator = judged(ALL_WELL)
        assert (it.verdict, it.model, it.evaluator, it.method) == ("pass", "scripted-1", "scripted", "script")
        assert (it.evaluator_version, it.is_model, it.asked, it.error) == (evaluator.version, True, 1, "")
        assert (it.advisory, it.truncated, it.least_sure) == (False, False, None)
        assert it.digest == material.digest(example(), QUESTIONS, evaluator.version)
        assert before <= it.at <= timezone.now()
        assert it.milliseconds >= 0
        assert evaluator.states == [material.state(example())]

    def test_is_the_worst_question(self):
        assert judged(UNSURE)[0].verdict is Verdict.UNSURE
        assert judged(UNSURE)[0].least_sure == pytest.approx(1.0)
        assert judged((Answer(probability=0.1), STATES, BOTH))[0].verdict is Verdict.FAIL

    def test_takes_the_server_limits_where_a_question_has_no_own(self):
        assert judged(ALL_WELL, limits=Limits(check_confidence=0.95))[0].verdict is Verdict.UNSURE

    def test_remembers_that_it_was_advisory(self):
        assert judged(ALL_WELL, advisory=True)[0].advisory is True

    def test_shows_run_data_cut_and_says_so(self):
        evaluator = Scripted(ALL_WELL)
        long = {"inputs": {"a": "x" * 5000}, "steps": {}}
        it = judge(example(run_data=long), QUESTIONS, Limits(check_state_bytes=1024), evaluator=evaluator)
        assert it.truncated
        assert material.size(evaluator.states[0]["run_data"]) <= 1024
        assert it.digest == material.digest(example(run_data=long), QUESTIONS, evaluator.version)

    def test_links_that_expire_do_not_count_towards_the_cut(self):
        evidence = [{"kind": "file", "ref": "f", "url": "https://files/" + "x" * 2000}]
        run_data = {"inputs": {}, "steps": {"a": {"evidence": evidence, "at": "2026-10-06T09:04:20Z"}}}
        it = judge(
            example(run_data=run_data),
            QUESTIONS,
            Limits(check_state_bytes=1024),
            evaluator=Scripted(ALL_WELL),
        )
        assert not it.truncated


class TestErrors:
    def test_one_failure_is_asked_again_as_a_whole(self):
        it, evaluator = judged(down(), ALL_WELL)
        assert (it.verdict, it.asked, it.error) == ("pass", 2, "")
        assert evaluator.states[0] == evaluator.states[1]

    def test_two_failures_are_an_error(self):
        it, evaluator = judged(down("first"), down("second"), ALL_WELL)
        assert (it.verdict, it.asked, it.error) == ("error", 2, "second")
        assert (it.judged, it.model, it.least_sure) == ((), "", None)
        assert (it.evaluator, it.method) == ("scripted", "script")
        assert len(evaluator.states) == 2

    def test_a_permanent_failure_is_not_asked_again(self):
        it, evaluator = judged(EvaluatorError("wrong key", permanent=True), ALL_WELL)
        assert (it.verdict, it.asked, it.error) == ("error", 1, "wrong key")
        assert len(evaluator.states) == 1

    def test_each_asking_has_its_own_deadline(self, settings):
        settings.EVALUATOR_SECONDS = 7.0
        _, evaluator = judged(down(), ALL_WELL)
        assert all(0 < seconds <= 7 for seconds in evaluator.seconds_given)
        assert len(evaluator.seconds_given) == 2

    @pytest.mark.parametrize(
        "answers",
        [
            (),
            ALL_WELL[:2],
            (*ALL_WELL, YES),
            (STATES, YES, BOTH),
            (Answer(probability=1.5), STATES, BOTH),
            (Answer(probability=float("nan")), STATES, BOTH),
            (YES, Answer(name="approves", confidence=0.9), BOTH),
            (YES, STATES, Answer(level=3, confidence=0.9)),
        ],
    )
    def test_answers_that_do_not_fit_are_an_error_and_never_a_verdict(self, answers):
        it, _ = judged(answers)
        assert (it.verdict, it.asked, it.judged) == ("error", 2, ())
        assert it.error

    def test_an_evaluator_that_breaks_is_an_error_without_its_text(self, caplog):
        it, _ = judged(ZeroDivisionError("secret"))
        assert (it.verdict, it.error) == ("error", "the evaluator failed (ZeroDivisionError)")
        assert "evaluator scripted failed" in caplog.text

    def test_a_long_message_is_cut_to_its_column(self):
        assert len(judged(down("x" * 5000))[0].error) == 500

    def test_nobody_configured(self, settings):
        settings.EVALUATOR = "none"
        it = judge(example(), QUESTIONS, Limits())
        assert (it.verdict, it.asked, it.evaluator, it.model) == ("error", 0, "none", "")
        assert "EVALUATOR" in it.error

    def test_no_questions_have_no_verdict(self):
        with pytest.raises(ValueError, match="without questions"):
            judge(example(), (), Limits(), evaluator=Scripted(ALL_WELL))


class TestWhoIsAsked:
    def test_the_configured_one_by_default(self, settings):
        settings.EVALUATOR = "heuristic"
        it = judge(example(), QUESTIONS, Limits())
        assert (it.evaluator, it.model, it.is_model) == ("heuristic", "heuristic-1", False)
        assert it.verdict is not Verdict.ERROR

    def test_its_version_is_part_of_the_digest(self):
        assert version_of(None) == "none"
        assert version_of(Scripted()) == Scripted.version
        first, _ = judged(ALL_WELL)
        other = Scripted(ALL_WELL)
        other.version = "6" * 64
        assert judge(example(), QUESTIONS, Limits(), evaluator=other).digest != first.digest

    def test_one_whole_check_never_mixes_two_askings(self):
        calls = []

        class Half(Scripted):
            def ask(self, material_state, questions, *, deadline):
                calls.append(len(questions))
                given = ALL_WELL[:1] if len(calls) == 1 else (*UNSURE, Answer(probability=0.0))
                return Answers(model=f"m-{len(calls)}", answers=given, method="script")

        it = judge(example(), QUESTIONS, Limits(), evaluator=Half())
        assert (it.model, it.verdict, calls) == ("m-2", "unsure", [4, 4])


class TestTransactions:
    def test_asking_within_one_is_refused(self):
        evaluator = Scripted(ALL_WELL)
        with transaction.atomic(), pytest.raises(RuntimeError, match="inside a transaction"):
            judge(example(), QUESTIONS, Limits(), evaluator=evaluator)
        assert evaluator.states == []

    @pytest.mark.django_db(transaction=True)
    def test_asking_within_a_real_one_is_refused(self):
        with transaction.atomic(), pytest.raises(RuntimeError, match="inside a transaction"):
            judge(example(), QUESTIONS, Limits(), evaluator=Scripted(ALL_WELL))

    @pytest.mark.django_db(transaction=True)
    def test_asking_outside_takes_no_statement(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert judge(example(), QUESTIONS, Limits(), evaluator=Scripted(ALL_WELL)).verdict is Verdict.PASS
