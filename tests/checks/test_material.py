import copy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import codec, material
from tests.checks.vendor import QUESTIONS, YES_NO
from tests.checks.vendor import material as example

EMPTY_BYTES = len('{"inputs":{},"steps":{}}')

TEXT = st.text(max_size=60)
VALUE = st.recursive(
    st.none() | st.booleans() | TEXT | st.integers().map(lambda number: codec.Number(str(number))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
AT = st.sampled_from(
    ["2026-10-06T09:04:20Z", "2026-10-07T09:04:20+02:00", "2026-10-08T00:00:00.5Z", "soon", None]
)
STEP = st.fixed_dictionaries({"output": st.dictionaries(TEXT, VALUE, max_size=2)}, optional={"at": AT})
RUN_DATA = st.fixed_dictionaries(
    {
        "inputs": st.dictionaries(TEXT, VALUE, max_size=5),
        "steps": st.dictionaries(TEXT, STEP, max_size=5),
    }
)


def step(at, **more):
    return {"output": {"text": "x" * 40}, "by": "agent", "at": at, **more}


class TestState:
    def test_golden(self):
        run_data = codec.loads(
            '{"inputs":{"amount":1200.50},"steps":{"a":{"output":{"url":"kept"},"evidence":[{"kind":"file","ref":"f_1",'
            '"sha256":"ab","url":"https://files/1?sig=2"}],"history":[{"evidence":[{"kind":"file","ref":"f_0","url":"u"}]'
            ',"at":"2026-10-06T09:04:20Z"}]}}}'
        )
        evidence = [{"kind": "file", "ref": "f_2", "sha256": "cd", "url": "https://files/2"}]
        assert codec.dumps(material.state(example(run_data=run_data, evidence=evidence))) == (
            '{"instructions":"Look the vendor up on the OFAC and EU lists.",'
            '"process":"# Vendor check\\n",'
            '"run_data":{"inputs":{"amount":1200.50},"steps":{"a":{"output":{"url":"kept"},'
            '"evidence":[{"kind":"file","ref":"f_1","sha256":"ab"}],'
            '"history":[{"evidence":[{"kind":"file","ref":"f_0"}],"at":"2026-10-06T09:04:20Z"}]}}},'
            '"submission":{"output":{"cleared":true,"summary":"Cleared: no match on either list."},'
            '"summary":"Cleared. Both lists were searched with the terms Acme GmbH and Acme Holding; no match.",'
            '"evidence":[{"kind":"file","ref":"f_2"}]}}'
        )

    @pytest.mark.parametrize(
        "steps", [None, [], "none", {"a": None}, {"a": {"evidence": "none", "history": 3}}]
    )
    def test_odd_run_data_is_shown_as_it_is(self, steps):
        assert material.without_urls({"steps": steps}) == {"steps": steps}

    def test_the_material_stays_as_it_was(self):
        run_data = {"inputs": {}, "steps": {"a": {"evidence": [{"kind": "file", "ref": "f", "url": "u"}]}}}
        before = copy.deepcopy(run_data)
        material.state(example(run_data=run_data))
        assert run_data == before


class TestCut:
    def test_what_fits_is_shown_whole(self):
        run_data = {"inputs": {"a": "b"}, "steps": {}}
        assert material.cut(run_data, material.size(run_data)) == (run_data, False)

    def test_the_oldest_step_goes_first(self):
        steps = {
            "new": step("2026-10-08T00:00:00Z"),
            "old": step("2026-10-06T00:00:00+02:00"),
            "mid": step("2026-10-06T00:00:00Z"),
        }
        run_data = {"inputs": {"a": "b"}, "steps": steps}
        for gone in (["old"], ["old", "mid"], ["old", "mid", "new"]):
            whole = {"inputs": {"a": "b"}, "steps": {key: steps[key] for key in steps if key not in gone}}
            assert material.cut(run_data, material.size(whole)) == (whole, True)

    def test_a_step_that_waits_for_rework_is_as_old_as_its_last_completion(self):
        steps = {
            "redone": {"history": [step("2026-10-01T00:00:00Z"), step("2026-10-09T00:00:00Z")]},
            "done": step("2026-10-08T00:00:00Z"),
        }
        shown, cut = material.cut(
            {"inputs": {}, "steps": steps}, material.size({"inputs": {}, "steps": steps}) - 1
        )
        assert (list(shown["steps"]), cut) == (["redone"], True)

    def test_then_the_longest_inputs_are_shortened_to_one_length(self):
        run_data = {"inputs": {"a": "x" * 500, "b": ["y" * 300], "c": "short"}, "steps": {}}
        shown, cut = material.cut(run_data, 200)
        assert cut
        assert shown["inputs"]["c"] == "short"
        assert shown["inputs"]["a"].startswith("xxx")
        assert shown["inputs"]["a"].endswith("…")
        assert shown["inputs"]["b"].startswith('["yyy')
        assert abs(material.size(shown["inputs"]["a"]) - material.size(shown["inputs"]["b"])) <= 1
        assert 195 <= material.size(shown) <= 200

    def test_no_character_is_cut_in_half(self):
        shown, _ = material.cut({"inputs": {"a": "é€😀" * 100}, "steps": {}}, 100)
        assert set(shown["inputs"]["a"]) <= set("é€😀…")
        assert material.size(shown) <= 100

    def test_then_inputs_go(self):
        run_data = {"inputs": {"a": "xxxxxxxxx", "long_key_of_b": "yyyyyyyyyy"}, "steps": {}}
        assert material.cut(run_data, 40) == ({"inputs": {"a": "…"}, "steps": {}}, True)

    @given(RUN_DATA, st.integers(0, 400))
    def test_properties(self, run_data, limit):
        before = copy.deepcopy(run_data)
        shown, cut = material.cut(run_data, limit)
        assert run_data == before
        assert material.size(shown) <= max(limit, EMPTY_BYTES)
        assert cut == (material.size(run_data) > limit)
        assert set(shown["steps"]) <= set(run_data["steps"])
        assert all(shown["steps"][key] == run_data["steps"][key] for key in shown["steps"])
        if shown["steps"]:
            assert shown["inputs"] == run_data["inputs"]
        if not cut:
            assert shown == run_data

    @given(RUN_DATA, st.integers(0, 400))
    def test_more_room_never_shows_fewer_steps(self, run_data, limit):
        less, more = material.cut(run_data, limit)[0], material.cut(run_data, limit + 20)[0]
        assert set(less["steps"]) <= set(more["steps"])


class TestDigest:
    def digest(self, questions=QUESTIONS, version="v1", **changes):
        return material.digest(example(**changes), questions, version)

    def test_the_same_check_has_the_same_digest_whatever_the_order_of_keys(self):
        turned = {"summary": "Cleared: no match on either list.", "cleared": True}
        assert self.digest() == self.digest(output=turned)
        assert len(self.digest()) == 64

    @pytest.mark.parametrize(
        "changes",
        [
            {"instructions": "Check."},
            {"body": "# Vendor check"},
            {"run_data": {"inputs": {"vendorName": "Acme AG", "amount": 1200}, "steps": {}}},
            {
                "run_data": {
                    "inputs": {"vendorName": "Acme GmbH", "amount": codec.Number("1200.0")},
                    "steps": {},
                }
            },
            {"output": {"cleared": False, "summary": "Cleared: no match on either list."}},
            {"output": {"cleared": "true", "summary": "Cleared: no match on either list."}},
            {"summary": "Cleared."},
            {"evidence": ()},
            {"evidence": ({"kind": "link", "ref": "f_0"},)},
            {"evidence": ({"kind": "file", "ref": "f_1"},)},
            {"questions": QUESTIONS[:2]},
            {"questions": tuple(reversed(QUESTIONS))},
            {"questions": (replace(YES_NO, pass_at=0.95), *QUESTIONS[1:])},
            {"version": "v2"},
        ],
    )
    def test_any_change_is_another_check(self, changes):
        assert self.digest(**changes) != self.digest()

    def test_a_link_that_is_signed_anew_changes_nothing(self):
        def data(url):
            return {"inputs": {}, "steps": {"a": {"evidence": [{"kind": "file", "ref": "f", "url": url}]}}}

        assert self.digest(run_data=data("u?sig=1")) == self.digest(run_data=data("u?sig=2"))

    def test_the_same_bytes_uploaded_again_re_roll_no_dice(self):
        first, again, other = (
            self.digest(evidence=[{"kind": "file", "ref": ref, "sha256": sha256}])
            for ref, sha256 in (("f_1", "ab"), ("f_2", "ab"), ("f_1", "cd"))
        )
        assert first == again
        assert first != other

    def test_the_digest_is_taken_before_any_cut(self):
        long = {"inputs": {"a": "x" * 100_000}, "steps": {}}
        other = {"inputs": {"a": "x" * 99_999 + "y"}, "steps": {}}
        assert self.digest(run_data=long) != self.digest(run_data=other)
