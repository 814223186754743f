"""Whoever answers first answers all of it; who failed lately comes last; word match lets nothing pass."""

import time
from decimal import Decimal

import pytest

from checks import judging, verdicts
from checks.evaluators import Config, EvaluatorError, breaker
from checks.evaluators.chain import Chain
from checks.evaluators.heuristic import Heuristic
from checks.questions import Answer, Limits, Verdict
from tests.checks.members import Told, chain, down, member
from tests.checks.vendor import ALL_WELL, BOTH, QUESTIONS, STATES
from tests.checks.vendor import material as example

SOON = 20.0


def ask(it, seconds=SOON):
    return it.ask({}, QUESTIONS, deadline=time.monotonic() + seconds)


def judged(it):
    return judging.judge(example(), QUESTIONS, Limits(), evaluator=it)


class TestFailover:
    def test_the_first_answers_and_nobody_else_is_asked(self):
        first, second = Told("a"), Told("b")
        answers = ask(chain(first, second))
        assert (answers.model, answers.by.name, answers.by.version) == ("a-1", "a", first.version)
        assert second.asked == []

    @pytest.mark.parametrize(
        "step",
        [down(), EvaluatorError("wrong key", permanent=True), RuntimeError("broken"), ALL_WELL[:2],
         (Answer(name="states", confidence=0.9), STATES, BOTH)],
        ids=["down", "permanent", "broken", "too few", "a misfit"],
    )  # fmt: skip
    def test_the_next_answers_the_whole_check(self, step):
        answers = ask(chain(Told("a", step, pads=False), Told("b")))
        assert (answers.model, answers.answers) == ("b-1", ALL_WELL)

    def test_all_failed(self):
        with pytest.raises(EvaluatorError) as error:
            ask(chain(Told("a", down()), Told("b", EvaluatorError("wrong key", permanent=True))))
        assert error.value.message == "a: it is down; b: wrong key"
        assert not error.value.permanent

    def test_all_failed_for_good(self):
        with pytest.raises(EvaluatorError) as error:
            ask(chain(Told("a", down(permanent=True)), Told("b", down(permanent=True))))
        assert error.value.permanent

    def test_who_is_followed_gets_its_own_seconds_and_half_of_the_rest_at_most(self):
        told = [Told(name, down()) for name in "abc"]
        began = time.monotonic()
        with pytest.raises(EvaluatorError):
            Chain([member(told[0], seconds=3), member(told[1]), member(told[2], seconds=60)]).ask(
                {}, QUESTIONS, deadline=began + 40
            )
        given = [one.asked[0] - began for one in told]
        assert given == pytest.approx([3, 20, 40], abs=0.5)


class TestOfOne:
    def test_it_is_that_one(self):
        told = Told("a", down())
        it = chain(told)
        assert (it.version, it.name, it.is_model, it.method) == (told.version, "a", True, "told")
        with pytest.raises(EvaluatorError, match=r"^it is down$"):
            ask(it)

    def test_its_word_match_may_pass(self):
        assert judged(chain(Told("words", is_model=False))).verdict is Verdict.PASS


class TestVersion:
    def test_covers_its_members_and_their_order(self):
        a, b = Told("a"), Told("b")
        assert len({chain(a).version, chain(b).version, chain(a, b).version, chain(b, a).version}) == 4
        assert chain(a, b).version == chain(Told("a"), Told("b")).version


@pytest.mark.django_db
class TestVerdicts:
    def test_say_who_of_them_answered(self):
        a, b = Told("a", down()), Told("b")
        it = judged(chain(a, b))
        assert (it.verdict, it.evaluator, it.evaluator_version, it.model) == ("pass", "b", b.version, "b-1")

    def test_are_found_again_by_the_chain_that_gave_them(self):
        a, b = Told("a", down()), Told("b")
        assert judged(chain(a, b)).digest == judged(chain(a, b)).digest != judged(chain(b)).digest

    def test_word_match_in_a_chain_lets_nothing_pass(self):
        it = judged(chain(Told("a", down()), Told("words", is_model=False)))
        assert (it.verdict, it.stopgap, it.is_model, it.least_sure) == ("unsure", True, False, 1.0)
        row = verdicts.record(it)
        assert (row.verdict, row.stopgap, row.evaluator) == ("unsure", True, "words")

    def test_nor_where_it_stands_first(self):
        assert judged(chain(Told("words", is_model=False), Told("a"))).verdict is Verdict.UNSURE

    def test_but_it_may_fail(self):
        bad = (Answer(probability=0.1), STATES, BOTH)
        assert judged(chain(Told("a", down()), Told("words", bad, is_model=False))).verdict is Verdict.FAIL

    def test_the_real_one_is_no_model_either(self):
        words = Heuristic(Config(kind="heuristic"))
        it = Chain([member(Told("a", down())), member(Told("b", down())), *_named("words", words)])
        assert judged(it).verdict in {Verdict.UNSURE, Verdict.FAIL}

    def test_carry_tokens_and_cost(self):
        it = judged(Chain([member(Told("a"), input_price="0.24", output_price="2")]))
        row = verdicts.record(it)
        row.refresh_from_db()
        assert (row.requests, row.input_tokens, row.output_tokens) == (1, 2000, 50)
        assert row.cost == Decimal("0.00058")

    @pytest.mark.parametrize(
        ("prices", "tokens", "cost"),
        [
            ({}, (1, 1), None),
            ({"input_price": "1"}, (1_000_000, None), Decimal(1)),
            ({"input_price": "1"}, (None, 5), None),
            ({"input_price": "1", "output_price": "0"}, (500_000, None), Decimal("0.5")),
            ({"input_price": "0", "output_price": "0"}, (None, None), Decimal(0)),
        ],
    )
    def test_a_cost_is_told_only_where_it_is_known(self, prices, tokens, cost):
        answers = Told("a").ask({}, QUESTIONS, deadline=0)
        object.__setattr__(answers, "input_tokens", tokens[0])
        object.__setattr__(answers, "output_tokens", tokens[1])
        assert member(Told("a"), **prices).cost(answers) == cost


def _named(name, evaluator):
    from checks.evaluators.chain import Member

    return [Member(name=name, evaluator=evaluator, seconds=5)]


class TestBreaker:
    def test_three_failures_in_a_row_put_it_last(self):
        a, b = Told("a", down()), Told("b")
        it = chain(a, b)
        for _ in range(5):
            assert ask(it).by.name == "b"
        assert len(a.asked) == 3
        assert breaker.is_open(a.version) and not breaker.is_open(b.version)

    def test_one_answer_in_between_starts_it_anew(self):
        a, b = Told("a", down()), Told("b")
        it = chain(a, b)
        for step in (down(), down(), ALL_WELL, down(), down()):
            a.step = step
            ask(it)
        assert not breaker.is_open(a.version)

    def test_who_lets_us_in_no_more_is_last_at_once(self):
        a, b = Told("a", down(permanent=True)), Told("b")
        ask(chain(a, b))
        ask(chain(a, b))
        assert len(a.asked) == 1

    def test_what_is_wrong_with_one_answer_never_opens_it(self):
        a, b = Told("a", EvaluatorError("no letter")), Told("b")
        for _ in range(10):
            ask(chain(a, b))
        assert len(a.asked) == 10

    def test_one_asker_tries_it_again_after_a_while(self, monkeypatch):
        monkeypatch.setattr(breaker, "HELD_SECONDS", 0.2)
        a, b = Told("a", down()), Told("b")
        it = chain(a, b)
        for _ in range(4):
            ask(it)
        assert len(a.asked) == 3
        time.sleep(0.25)
        ask(it)
        ask(it)
        assert len(a.asked) == 4  # the second asker is held off by the first
        time.sleep(0.25)
        a.step = ALL_WELL
        assert [ask(it).by.name for _ in range(2)] == ["a", "a"]

    def test_where_all_are_open_all_are_asked(self):
        a, b = Told("a", down()), Told("b", down())
        for _ in range(4):
            with pytest.raises(EvaluatorError):
                ask(chain(a, b))
        assert (len(a.asked), len(b.asked)) == (4, 4)
