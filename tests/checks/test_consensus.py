import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.consensus import Given, consensus, near_copies

TASK = "Which bridge was closed, and until when?"
EVIDENCE = ["The Sorel bridge was closed until 2 February 2026. The Miller bridge stayed open."]


def agreed(*outputs, evidence=EVIDENCE, task=TASK, agents=None):
    answers = [
        Given(output=output, agent_id=agents[place] if agents else None)
        for place, output in enumerate(outputs)
    ]
    return consensus(task, answers, evidence)


class TestClusters:
    def test_the_same_in_other_words(self):
        it = agreed(
            "The Sorel bridge, until 2 February 2026.", "Sorel, closed until 2026-02-02", "Miller, until May"
        )
        assert (it.clusters, round(it.agreement, 2)) == (((0, 1), (2,)), 0.67)

    def test_another_figure_or_date_parts_them(self):
        assert (
            len(agreed("There are 12 crates in the hall.", "There are 21 crates in the hall.").clusters) == 2
        )
        assert len(agreed("Closed until 2 May 2026.", "Closed until 3 May 2026.").clusters) == 2

    def test_a_negation_or_a_contrary_parts_them(self):
        assert len(agreed("The request was approved.", "The request was not approved.").clusters) == 2
        assert len(agreed("The request was approved.", "The request was rejected.").clusters) == 2

    @pytest.mark.parametrize(
        ("one", "other", "clusters"),
        [
            ("The request wasn't approved.", "The request was approved.", 2),
            ("The system did not reject it.", "The system accepted it.", 1),
            # one sentence that denies parts longer answers …
            (
                "The ticket is refundable. The ferry leaves from pier 3 and takes 55 minutes in all.",
                "The ticket is not refundable. The ferry leaves from pier 3 and takes 55 minutes in all.",
                2,
            ),
            # … but not where the other says as much of it and agrees
            (
                "The claim was not approved in May. The claim was approved in June.",
                "In the end the claim was approved in June. The claim was not approved in May.",
                1,
            ),
            ("The crossing takes 60 minutes.", "The crossing takes 1 hour.", 1),
            ("The crossing costs €5.", "The crossing costs $5.", 2),
            ("It opens at 9 am on Sundays.", "It opens at 9 pm on Sundays.", 2),
        ],
    )
    def test_sentence_by_sentence(self, one, other, clusters):
        assert len(agreed(one, other, task="What is known?").clusters) == clusters

    def test_the_task_s_own_words_are_no_agreement(self):
        assert len(agreed("The bridge closed was Sorel.", "The bridge closed was Miller.").clusters) == 2

    def test_a_tie_is_no_consensus(self):
        it = agreed("Sorel", "Sorel", "Miller", "Miller")
        assert (it.answer, it.agreement, it.risk, it.unsupported_agreement) == (None, 0.5, "low", False)

    def test_each_on_its_own_is_no_consensus(self):
        assert agreed("Sorel", "Miller").answer is None

    @pytest.mark.parametrize("text", ["Yes", "4", "…"])
    def test_the_same_text_falls_together(self, text):
        assert agreed(text, f" {text}\n").clusters == ((0, 1),)

    @given(st.lists(st.text(max_size=30), min_size=2, max_size=16))
    def test_every_answer_is_in_one_cluster(self, outputs):
        it = agreed(*outputs)
        assert sorted(place for cluster in it.clusters for place in cluster) == list(range(len(outputs)))
        assert it.agreement == len(it.clusters[0]) / len(outputs)


class TestTheRisk:
    def test_is_low_where_the_evidence_supports_it(self):
        it = agreed("The Sorel bridge, until 2 February 2026.", "Sorel, until 2026-02-02.")
        assert (it.risk, it.unsupported_agreement) == ("low", False)

    def test_is_high_where_it_does_not(self):
        it = agreed("The Miller bridge was closed until May.", "Miller, closed until May")
        assert (it.risk, it.unsupported_agreement) == ("high", True)
        assert it.reasons == ("The answers agree, but the evidence does not support what they agree on.",)

    def test_is_medium_where_there_is_none(self):
        it = agreed("Sorel", "The Sorel bridge", evidence=[])
        assert (it.risk, it.unsupported_agreement) == ("medium", False)

    def test_near_copies_raise_it(self):
        text = "The Sorel bridge was closed until 2 February 2026 because cracks were found in two of its girders"
        supported = [text + "."]
        assert agreed(text, f"{text} indeed", evidence=supported).risk == "medium"
        assert agreed(text, f"{text} indeed", evidence=[]).risk == "high"

    def test_one_agent_twice_raises_it(self):
        answers = ("The Sorel bridge, until 2 February 2026.", "Sorel, until 2026-02-02.")
        assert agreed(*answers, agents=["a", "a"]).risk == "medium"
        assert agreed(*answers, agents=["a", "b"]).risk == "low"

    def test_short_answers_are_no_copies(self):
        assert not near_copies("Sorel bridge", "Sorel bridge")

    @pytest.mark.parametrize("other", ["Sorel bridge", "sorel bridge."])
    def test_the_same_few_words_are_not_said_to_be_worded_in_their_own_ways(self, other):
        it = agreed("Sorel bridge", other)
        assert it.risk == "low"
        assert it.reasons == (
            "The evidence supports the shared answer.",
            "Answers that agree are the same few words: they are too short to tell copies from agreement.",
        )
        assert "too short" in agreed("Sorel bridge", other, evidence=[]).reasons[-1]


def test_the_view_says_clustering_and_no_more():
    view = agreed("Sorel", "The Sorel bridge", "Miller").view()
    assert view["clusters"][0] == {"role": "clustering", "answers": [0, 1], "size": 2, "representative": 0}
    assert {"consensus_answer", "agreement_score", "false_consensus_risk", "unsupported_agreement"} < set(
        view
    )
