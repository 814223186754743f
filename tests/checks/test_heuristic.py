import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import material
from checks.evaluators import Config
from checks.evaluators.heuristic import MODEL, Heuristic
from checks.evaluators.heuristic_text import polarity, read, stem, words
from checks.questions import Kind, Limits, Question, judge_answer, misfit, worst
from tests.checks.vendor import QUESTIONS
from tests.checks.vendor import material as example

HEURISTIC = Heuristic(Config(kind="heuristic"))


def judged(questions=QUESTIONS, **changes):
    answers = HEURISTIC.ask(material.state(example(**changes)), questions, deadline=0.0).answers
    return [
        judge_answer(question, answer, Limits()) for question, answer in zip(questions, answers, strict=True)
    ]


def results(**changes):
    return " ".join(item.result for item in judged(**changes))


def verdict(**changes):
    return worst(item.result for item in judged(**changes))


class TestSupplierScreening:
    def test_a_clear_summary_with_both_lists_and_the_search_terms_passes(self):
        summary = (
            'Cleared. Screened Acme GmbH against both lists, OFAC SDN and EU consolidated, with the search terms "Acme '
            'GmbH" and "Acme Holding"; no match. The attached report covers both lists.'
        )
        assert results(summary=summary) == "pass pass pass"

    def test_a_clear_refusal_passes_too(self):
        summary = (
            "Not cleared. Both lists were searched with the terms Acme GmbH and Acme Holding; the EU list has a hit on "
            "the owner. The report covers both lists."
        )
        output = {"cleared": False, "summary": "Hit on the EU list."}
        assert results(summary=summary, output=output) == "pass pass pass"

    def test_a_hedged_and_vague_summary_is_unsure(self):
        summary = "The vendor appears to be fine; the EU list could not be checked fully and may need further review."
        output = {"cleared": True, "summary": "Probably fine."}
        assert verdict(summary=summary, output=output) == "unsure"
        assert results(summary=summary, output=output) == "unsure fail fail"

    @pytest.mark.parametrize(
        ("cleared", "summary"),
        [
            (
                True,
                "Not cleared. Both lists were searched with the terms Acme GmbH; the EU list has a match.",
            ),
            (
                False,
                "Vendor cleared against both lists, OFAC and EU, with the search terms Acme and Acme Holding.",
            ),
        ],
    )
    def test_a_summary_that_denies_its_own_output_fails(self, cleared, summary):
        assert verdict(summary=summary, output={"cleared": cleared, "summary": "See the report."}) == "fail"

    def test_one_list_is_a_lower_level(self):
        summary = "Cleared against the OFAC list only; one list is covered, with the search term Acme GmbH. Report attached."
        output = {"cleared": True, "summary": "Cleared on OFAC."}
        assert results(summary=summary, output=output) == "pass pass fail"

    @pytest.mark.parametrize("summary", ["Done.", "ok", "Checked it."])
    def test_saying_nothing_never_passes(self, summary):
        assert verdict(summary=summary, output={"cleared": True, "summary": "ok"}) != "pass"

    def test_without_any_word_everything_is_lowest(self):
        yes_no, choice, rubric = judged(summary="", output={}, evidence=())
        assert yes_no.result == "fail"
        assert choice.answer.name == "unclear"
        assert rubric.answer.level == 0


class TestSignals:
    def test_numbers_that_disagree_are_a_contradiction(self):
        submission = {"output": {"amount": 1200}, "summary": "The amount is 1,500 EUR."}
        assert read(submission).contradiction == 1.0
        assert read(submission | {"summary": "The amount is 1,200 EUR of 1,500."}).contradiction == 0.0

    def test_words_with_an_opposite_are_a_contradiction(self):
        submission = {"output": {"decision": "approve"}, "summary": "The claim is declined."}
        assert read(submission).contradiction == 1.0
        assert read(submission | {"summary": "The claim is approved."}).contradiction == 0.0
        assert read(submission | {"summary": "The audit is over."}).contradiction == 0.0

    def test_a_date_in_may_is_no_hedge(self):
        assert (
            read({"summary": "Signed on 3 May 2026 and May 4."}).hedge
            < read({"summary": "It may be signed."}).hedge
        )

    def test_a_negated_question_wants_the_words_to_be_absent(self):
        question = (Question(ask="The reply names no confidential price.", kind=Kind.YES_NO),)
        clean = "The reply thanks the customer, explains the delay, gives the new delivery week and offers a call."
        leak = "The reply names the confidential price of 40 EUR, thanks the customer, explains the delay and offers a call."
        clean_answer, leak_answer = (
            judged(questions=question, summary=text, output={}, evidence=())[0].answer.probability
            for text in (clean, leak)
        )
        assert leak_answer < 0.7 < clean_answer

    def test_a_negation_reaches_a_few_words(self):
        assert dict(polarity(words("not cleared by finance today, approved"))) == {
            "clear": True, "financ": True, "today": True, "approv": False,
        }  # fmt: skip

    @pytest.mark.parametrize("word", ["clear", "clears", "cleared", "clearing"])
    def test_endings_meet(self, word):
        assert stem(word) == "clear"

    def test_it_is_no_model_and_says_so(self):
        answers = HEURISTIC.ask(material.state(example()), QUESTIONS, deadline=0.0)
        assert (answers.model, HEURISTIC.is_model) == (MODEL, False)

    def test_its_version_names_what_it_is(self):
        assert HEURISTIC.version == Heuristic(Config(kind="heuristic", base="elsewhere")).version
        assert len(HEURISTIC.version) == 64

    @given(
        summary=st.text(max_size=80),
        output=st.dictionaries(
            st.text(max_size=8), st.booleans() | st.integers() | st.none() | st.text(max_size=20), max_size=4
        ),
        ask=st.text(min_size=1, max_size=40),
    )
    def test_always_the_same_fitting_answers(self, summary, output, ask):
        questions = (*QUESTIONS, Question(ask=ask, kind=Kind.YES_NO))
        state = material.state(example(summary=summary, output=output))
        first = HEURISTIC.ask(state, questions, deadline=0.0)
        assert first == HEURISTIC.ask(state, questions, deadline=0.0)
        assert [misfit(*pair) for pair in zip(questions, first.answers, strict=True)] == [None] * 4

    @pytest.mark.parametrize(
        "state", [{}, {"submission": None}, {"submission": {"output": [], "summary": None}}]
    )
    def test_odd_material_is_read_as_empty(self, state):
        assert len(HEURISTIC.ask(state, QUESTIONS, deadline=0.0).answers) == 3
