"""The database refuses what must not be, whatever the code does: each constraint of each table, broken once.

Rows are changed behind the models' backs here, as a shell session or a later mistake would.
"""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from approvals.models import QueueEntry
from checks.models import (
    Answer,
    CheckLimits,
    Checkpoint,
    CheckpointHead,
    Evaluator,
    FactResult,
    JudgeCall,
    Key,
    SigningKey,
    Verdict,
)
from checks.records import AppendOnly, AppendOnlyError, Receipted
from processes.models import (
    Agent,
    Attempt,
    HistoryEntry,
    Notice,
    Process,
    Request,
    Role,
    Run,
    RunInput,
    Step,
    Submission,
    Upload,
    Version,
    WorkItem,
)
from tests.processes.flows import cast, errand
from tests.processes.test_tool_upload import given
from tests.world import SCREENING

pytestmark = pytest.mark.django_db
NOW = timezone.now()
LONG_AGO = NOW - timedelta(days=999)


@pytest.fixture
def scene(world, evaluator):
    """A screening whose candidate waits for finance; an errand; an upload; limits."""
    c = cast(world)
    world.publish(SCREENING, finance="finance", escalations="finance")
    CheckLimits.objects.create(why="a test", by="test")
    Evaluator.objects.create(name="a model", preset="ollama")
    JudgeCall.objects.create(
        key=Key.objects.first(), kind="judge", digest="d", verdict="pass", score=1, engine="deterministic"
    )
    evaluator.script = [[0.7]]
    run = world.start(c.agent)
    world.submit(c.agent, world.claim(c.agent, run)["token"])
    errand(world, c.agent)
    world.call(c.agent, "upload", **given())
    Notice.objects.create(run_id=run["run"]["id"], step="screen", what="overdue", at=NOW)
    FactResult.objects.create(about=uuid4(), position=1, type="regex", path="output.x", passed=True)
    SigningKey.objects.create(kid="k", x="x")
    Checkpoint.objects.create(covers_until=NOW, **RECEIPT)
    CheckpointHead.objects.create(checkpoint=Checkpoint.objects.get(), chain="run:x", seq=1, hash="h")
    return {
        Run: Run.objects.get(pk=run["run"]["id"]),
        Step: Step.objects.get(run=run["run"]["id"], name="screen"),
        Version: Version.objects.get(process__name="screening"),
    }


def row_of(scene: dict, model: Any) -> Any:
    return scene.get(model) or models.QuerySet(model).first()


def change(scene: dict, model: Any, **values: Any) -> None:
    models.QuerySet(model).filter(pk=row_of(scene, model).pk).update(**values)


def copy(scene: dict, model: Any, **values: Any) -> None:
    row = row_of(scene, model)
    columns = {f.attname: getattr(row, f.attname) for f in model._meta.concrete_fields if not f.primary_key}
    if issubclass(model, Receipted) and model is not Checkpoint:
        columns |= dict.fromkeys(RECEIPT)  # a place in a chain is another constraint's
    model._base_manager.bulk_create([model(**{**columns, **values})])


def both(scene: dict, model: Any, column: str = "group_id") -> None:
    change(scene, model, group=Group.objects.first(), person=User.objects.first())


RECEIPT = {"chain": "c", "seq": 1, "receipt": "a.b.c", "signed_at": NOW}
UNIQUE = [
    ("fact_result_once", FactResult, [{}]),
    ("history_one_receipt_a_place", HistoryEntry, [{"number": n, **RECEIPT} for n in (98, 99)]),
    ("version_one_receipt_a_place", Version, [{"number": n, **RECEIPT} for n in (98, 99)]),
    ("judge_call_one_receipt_a_place", JudgeCall, [RECEIPT, RECEIPT]),
    ("checkpoint_one_receipt_a_place", Checkpoint, [{}]),
    ("checkpoint_head_covered_once", CheckpointHead, [{}]),
    ("version_number_once", Version, [{}]),
    ("version_one_draft", Version, [{"number": None, "published_at": None}] * 2),
    ("role_once_per_version", Role, [{}]),
    ("step_once_per_run", Step, [{"position": 9}]),
    ("attempt_number_once", Attempt, [{}]),
    ("submission_number_once", Submission, [{"state": "accepted"}]),
    ("submission_one_checking", Submission,
     [{"state": "checking", "fence_until": NOW, "number": number} for number in (8, 9)]),
    ("submission_one_held", Submission, [{"number": 9}]),
    ("item_one_open_per_step", WorkItem, [{}]),
    ("history_number_once", HistoryEntry, [{}]),
    ("run_input_once", RunInput, [{}]),
    ("answer_once_per_question", Answer, [{}]),
]  # fmt: skip

CHECK = [
    ("fact_unreachable_never_passed", FactResult, {"unreachable": True}),
    ("run_head_of_its_receipts", Run, {"receipts": 0}),
    ("run_head_of_its_receipts", Run, {"receipt_head": ""}),
    *(
        (f"{name}_receipt_all_or_none", model, change)
        for name, model in (("history", HistoryEntry), ("judge_call", JudgeCall))
        for change in ({"chain": "c"}, {"seq": 1}, {"receipt": "r"}, {**RECEIPT, "seq": 0})
    ),
    ("version_receipt_all_or_none", Version, {"receipt": None}),
    ("version_receipt_all_or_none", Version, {"seq": 0}),
    ("checkpoint_receipt_all_or_none", Checkpoint, {"signed_at": None}),
    ("checkpoint_is_signed", Checkpoint, dict.fromkeys(("chain", "seq", "receipt", "signed_at"))),
    ("signing_key_made_before_retired", SigningKey, {"retired_at": LONG_AGO}),
    ("signing_key_made_before_revoked", SigningKey, {"revoked_at": LONG_AGO}),
    ("version_numbered_when_published", Version, {"number": None}),
    ("version_numbered_when_published", Version, {"published_at": None}),
    ("version_numbered_when_published", Version, {"number": 0}),
    ("run_state_known", Run, {"state": "asleep", "ended_at": NOW}),
    ("run_ended_when_over", Run, {"ended_at": NOW}),
    ("run_ended_when_over", Run, {"state": "cancelled"}),
    ("run_outcome_only_when_ended", Run, {"outcome": "done"}),
    ("run_outcome_only_when_ended", Run, {"state": "ended", "ended_at": NOW}),
    ("step_state_known", Step, {"state": "asleep"}),
    ("step_kind_known", Step, {"kind": "robot"}),
    ("step_live_since", Step, {"ready_at": None}),
    ("attempt_lease_has_holder", Attempt, {"lease_until": NOW, "claimed_by": None}),
    ("attempt_lease_has_holder", Attempt, {"lease_until": NOW, "generation": 0}),
    ("submission_state_known", Submission, {"state": "lost"}),
    ("submission_checking_fenced", Submission, {"state": "checking"}),
    ("item_state_known", WorkItem, {"state": "lost"}),
    ("item_kind_known", WorkItem, {"kind": "wait"}),
    ("item_decided_by_someone", WorkItem, {"state": "decided"}),
    ("item_decided_by_someone", WorkItem, {"decision": "completed"}),
    ("item_decided_by_someone", WorkItem,
     {"state": "decided", "decision": "failed", "decided_at": NOW}),
    ("item_agent_only_escalated", WorkItem, {"escalated": False}),
    ("limits_between_0_and_1", CheckLimits, {"check_pass": 1.1}),
    ("limits_between_0_and_1", CheckLimits, {"check_confidence": -0.1}),
    ("limits_fail_not_over_pass", CheckLimits, {"check_fail": 0.95}),
    ("limits_show_something", CheckLimits, {"check_state_bytes": 10}),
    ("verdict_known", Verdict, {"verdict": "maybe", "least_sure": None}),
    ("verdict_rank_only_if_unsure", Verdict, {"verdict": "pass"}),
    ("answer_kind_known", Answer, {"kind": "essay"}),
    ("answer_result_known", Answer, {"result": "maybe"}),
    ("answer_fits_its_kind", Answer, {"probability": None}),
    ("answer_fits_its_kind", Answer, {"name": "states"}),
    ("answer_fits_its_kind", Answer, {"kind": "rubric"}),
    ("queue_kind_known", QueueEntry, {"kind": "odd"}),
    ("key_opens_something", Key, {"for_agents": False, "for_judge": False}),
    ("evaluator_preset_or_wire", Evaluator, {"preset": ""}),
    ("evaluator_preset_or_wire", Evaluator, {"wire": "chat"}),
    ("evaluator_key_is_bound", Evaluator, {"key_variable": "EVALUATOR_KEY_A"}),
    ("evaluator_key_is_bound", Evaluator, {"key_variable": "PATH", "key_origin": "https://a"}),
    ("evaluator_takes_time", Evaluator, {"seconds": 0}),
    ("evaluator_asks_at_once", Evaluator, {"at_once": 65}),
    ("evaluator_prices_not_negative", Evaluator, {"input_price": -1}),
    ("judge_call_fits_its_kind", JudgeCall, {"kind": "riddle"}),
    ("judge_call_fits_its_kind", JudgeCall, {"score": None}),
    ("judge_call_fits_its_kind", JudgeCall, {"kind": "consensus"}),
    ("queue_rank_in_range", QueueEntry, {"least_sure": 1.5}),
]  # fmt: skip
GROUP_OR_PERSON = [("item_group_or_person", WorkItem), ("notice_group_or_person", Notice)]


def test_every_constraint_is_broken_below():
    declared = {
        constraint.name
        for app in ("checks", "processes", "approvals")
        for model in apps.get_app_config(app).get_models()
        for constraint in model._meta.constraints
    }
    assert declared <= {name for name, *_ in (*UNIQUE, *CHECK, *GROUP_OR_PERSON)}


@pytest.mark.parametrize(
    ("name", "model", "rows"), UNIQUE, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_there_once(scene, name, model, rows):
    *first, last = rows
    for values in first:
        copy(scene, model, **values)
    with pytest.raises(IntegrityError), transaction.atomic():
        copy(scene, model, **last)


@pytest.mark.parametrize(("name", "model", "values"), CHECK)
def test_what_can_not_be(scene, name, model, values):
    before = models.QuerySet(model).filter(pk=row_of(scene, model).pk).values().get()
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        change(scene, model, **values)
    if name not in COVERED:
        assert name in str(refused.value)
    assert models.QuerySet(model).filter(pk=row_of(scene, model).pk).values().get() == before


# an unknown word breaks another rule of its row, too, and the database names whichever it tests first
COVERED = {"run_state_known", "answer_kind_known"}


@pytest.mark.parametrize(("name", "model"), GROUP_OR_PERSON)
def test_a_group_or_a_person(scene, name, model):
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        both(scene, model)


def test_names_and_requests_are_there_once(scene):
    for model, values in (
        (Process, {}), (Agent, {"key_id": None}), (Request, {"request_id": Request.objects.first().pk}),
    ):  # fmt: skip
        with pytest.raises(IntegrityError), transaction.atomic():
            copy(scene, model, **values)


# ---- what is written once


@pytest.mark.parametrize(
    "model", [model for model in apps.get_models() if issubclass(model, AppendOnly)], ids=lambda m: m.__name__
)
def test_records_can_be_added_and_read_only(scene, model):
    row = model.objects.first()
    assert row is not None, "the scene makes one of each"
    column = next(f.name for f in model._meta.concrete_fields if not f.primary_key)
    for attempt in (
        row.save,
        lambda: row.save(update_fields=[column]),
        row.delete,
        model.objects.all().delete,
        lambda: model.objects.update(**{column: None}),
        lambda: model.objects.bulk_update([row], [column]),
        lambda: model.objects.update_or_create(pk=row.pk, defaults={}),
    ):
        with pytest.raises(AppendOnlyError):
            attempt()
    assert model.objects.filter(pk=row.pk).exists()


def test_there_are_records(scene):
    kinds = {model for model in apps.get_models() if issubclass(model, AppendOnly)}
    assert {HistoryEntry, Request, Upload, Verdict, Answer, CheckLimits} <= kinds


def test_a_published_version_never_changes(scene):
    version = scene[Version]
    version.text = "other"
    for attempt in (lambda: version.save(update_fields=["text"]), version.delete):
        with pytest.raises(AppendOnlyError, match="published and never changes"):
            attempt()


@pytest.mark.parametrize("model", [Run, Step, Attempt, Submission, WorkItem, Process, Agent])
def test_a_save_names_its_columns(scene, model):
    with pytest.raises(TypeError, match="name the columns"):
        row_of(scene, model).save()


def test_ids_that_are_shown_can_not_be_guessed():
    made = [Run().pk, WorkItem().pk, Upload().pk]
    assert [pk[:2] for pk in made] == ["r_", "w_", "f_"]
    assert all(len(pk) >= 22 for pk in made) and len({Run().pk for _ in range(50)}) == 50
    assert uuid4() != Submission().pk
