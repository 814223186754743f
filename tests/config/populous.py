"""A server that holds `size` of everything, and of each kind of row one with `size` of all that belongs to it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import TestCase
from django.utils import timezone

from approvals.models import GroupRule, QueueEntry
from checks import keys
from checks.models import CheckLimits, Checkpoint, CheckpointHead, Evaluator, JudgeCall, SigningKey, Verdict
from checks.receipts import keys as signing_keys
from processes import files, publishing
from processes.models import (
    Agent,
    Attempt,
    HistoryEntry,
    Process,
    Request,
    Run,
    Step,
    Submission,
    Upload,
    Version,
    WorkItem,
)
from tests.processes import flows
from tests.processes.test_tool_upload import given
from tests.world import World, rid

NOTE = """\
---
name: note
description: Waits for a person at once.
inputs: { what: string }
steps:
  - { id: write, task: Write it., person: role-0 }
  - { id: done, finish: done }
---
"""


def text(size: int, number: int) -> str:
    """Of the process `subject-SIZE`, with a question and an approval for each of its roles."""
    questions = "".join(f"      - {{ ask: 'Question {n}?', pass: 0.9, fail: 0.5 }}\n" for n in range(size))
    approvals = "".join(
        f"  - {{ id: a{n}, person: role-{n}, approve: Is it good?, on_reject: s }}\n" for n in range(size)
    )
    return (
        f"---\nname: subject-{size}\ndescription: Number {number}.\ninputs: {{ what: string }}\nsteps:\n"
        "  - id: s\n    agent: Do it.\n    output: { t: string }\n    evidence: [file]\n    check:\n"
        f"{questions}{approvals}  - {{ id: done, finish: done }}\n---\nThe body.\n"
    )


@dataclass
class Populous:
    """`rows`: of each model the one that has most below it."""

    size: int
    rows: dict[type[Model], Any]
    published: Version
    draft: Version
    item: WorkItem
    decided: WorkItem
    approval: WorkItem
    upload: str

    @property
    def person(self) -> User:
        return self.rows[User]

    @property
    def agent(self) -> Agent:
        return self.rows[Agent]

    @property
    def file(self) -> str:
        return files.url(self.upload)

    @property
    def page(self) -> str:
        return f"/admin/processes/process/{self.published.process_id}/versions/{self.published.pk}/"

    @property
    def draft_page(self) -> str:
        return f"/admin/processes/process/{self.draft.process_id}/versions/{self.draft.pk}/"


class Builder:
    """Two people look on: `staff` has every permission, `plain` none; both are in every group."""

    def __init__(self, world: World, evaluator: Any) -> None:
        self.world, self.evaluator = world, evaluator
        self.evaluator.script = [[0.7]]
        with TestCase.captureOnCommitCallbacks(execute=True):
            signing_keys.current()  # as a server that has signed before
        self.cast = flows.cast(world)
        self.lookers = {
            "staff": world.user("staff", is_staff=True),
            "plain": world.user("plain"),
        }
        self.lookers["staff"].user_permissions.set(Permission.objects.all())
        self.world.publish(flows.ERRAND)
        self.world.publish(NOTE)

    def __call__(self, size: int) -> Populous:
        published, draft = self._versions(size)
        people = self._people(size)
        item, decided, approval, upload = self._runs(size, published)
        for n in range(size):
            CheckLimits(check_pass=0.9, why=f"{n}", by="test").save()
            key, _ = keys.issue(f"judge-{size}-{n}", for_judge=True)
            JudgeCall(
                key=key, kind="judge", verdict="pass", score=1.0, digest="0" * 64, engine="deterministic"
            ).save()
            Evaluator(name=f"judge-{size}-{n}", preset="groq", position=n).save()
            self._signed(size, n)
        for user in self.lookers.values():
            user.groups.set(Group.objects.all())
        rows: dict[type[Model], Any] = {
            **people,
            Process: published.process,
            CheckLimits: CheckLimits.objects.latest("pk"),
            JudgeCall: JudgeCall.objects.latest("at"),
            SigningKey: SigningKey.objects.latest("pk"),
            Checkpoint: Checkpoint.objects.latest("signed_at"),
            Evaluator: Evaluator.objects.latest("pk"),
            Run: item.run,
            Step: item.step,
            Attempt: item.attempt,
            Submission: item.candidate,
            Verdict: item.candidate.verdict,
            WorkItem: item,
            HistoryEntry: HistoryEntry.objects.filter(run=item.run).latest("pk"),
            Upload: Upload.objects.get(pk=upload),
            Request: Request.objects.filter(run=item.run).latest("at"),
            QueueEntry: QueueEntry.objects.get(item=item),
        }
        for row in rows.values():
            self._log(row, size)
        return Populous(size, rows, published, draft, item, decided, approval, upload)

    def _signed(self, size: int, number: int) -> None:
        """A key that was retired, and a checkpoint over as many chains."""
        now = timezone.now()
        SigningKey.objects.create(kid=f"{size}-{number}", x="A" * 43, created_at=now, retired_at=now)
        checkpoint = Checkpoint(
            covers_until=now, chain=f"checkpoints-{size}", seq=number + 1, receipt="x", signed_at=now,
        )  # fmt: skip
        checkpoint.save()
        CheckpointHead.objects.bulk_create(
            CheckpointHead(checkpoint=checkpoint, chain=f"{size}-{number}-{n}", seq=1, hash="x")
            for n in range(size)
        )

    def _versions(self, size: int) -> tuple[Version, Version]:
        """`size` versions and a draft of one process, and `size` other processes."""
        groups = [self.world.group(f"role-{n}") for n in range(size)]
        mapping = publishing.RoleMap(
            roles={f"role-{n}": group.pk for n, group in enumerate(groups)}, escalations=groups[0].pk
        )
        short = text(1, 0).replace("subject-1", f"subject-{size}")
        for number in range(size):
            self.world.publish(flows.ERRAND.replace("name: errand", f"name: other-{size}-{number}"))
            kept = text(size, number) if number == size - 1 else short.replace("Number 0", f"Number {number}")
            version = publishing.publish(publishing.draft(kept, by="test"), mapping, by="test")
        return version, publishing.draft(text(size, size), by="test")

    def _people(self, size: int) -> dict[type[Model], Any]:
        """A group of `size` people, a person in every group, an agent for `size` processes, and others."""
        group = self.world.group(f"crowd-{size}")
        permissions = Permission.objects.order_by("pk")[:size]
        group.permissions.set(permissions)
        for n in range(size):
            self.world.user(f"user-{size}-{n}", group.name, f"role-{n}")
            self.world.agent(f"agent-{size}-{n}", only=[f"other-{size}-{n}" for n in range(size)])
            GroupRule.objects.get_or_create(group=self.world.group(f"role-{n}"))
        user = User.objects.get(username=f"user-{size}-0")
        user.groups.set(Group.objects.all())
        user.user_permissions.set(permissions)
        agent = Agent.objects.get(name=f"agent-{size}-0")
        Agent.objects.filter(pk=agent.pk).update(vouched_by=user)
        rule = GroupRule.objects.create(group=group, forbid_own_work=True)
        return {Group: group, GroupRule: rule, User: user, Agent: agent}

    def _runs(self, size: int, published: Version) -> tuple[WorkItem, WorkItem, WorkItem, str]:
        """One case that came back `size` times, then with as many files; one decided, which led to an approval;
        and `size` others.
        """
        person = self.world.person(f"boss-{size}", "role-0")
        for _ in range(size):
            self._start("errand")
            self._start("note")
        run = self._start(published.process.name)
        self._submit(run, 1)
        first = self.world.item(person, run)["id"]
        self.world.decide(person, run, "completed")
        second = self.world.item(person, run)["id"]
        run = self._start(published.process.name)
        for n in range(size):
            uploads = self._submit(run, 1 if n < size - 1 else size)
            if n < size - 1:
                self.world.decide(person, run, "returned", note="Again.")
        found = WorkItem.objects.select_related("run", "step", "attempt", "candidate__verdict")
        item, decided, approval = (
            found.get(pk=pk) for pk in (self.world.item(person, run)["id"], first, second)
        )
        return item, decided, approval, uploads[0]

    def _start(self, name: str) -> dict[str, Any]:
        return self.world.call(self.cast.ada, "start_run", process=name, inputs={"what": "x"})

    def _submit(self, run: dict[str, Any], files: int) -> list[str]:
        """Unsure, with as many files."""
        call, agent = self.world.call, self.cast.agent
        uploads = [call(agent, "upload", **given(rid().encode()))["id"] for _ in range(files)]
        token = self.world.claim(agent, run, "s")["token"]
        evidence = [{"kind": "file", "ref": ref} for ref in uploads]
        call(agent, "submit", token=token, output={"t": rid()}, summary="s", evidence=evidence)
        return uploads

    def _log(self, row: Model, size: int) -> None:
        kind = ContentType.objects.get_for_model(row)
        LogEntry.objects.bulk_create(
            LogEntry(
                user=self.lookers["staff"], content_type=kind, object_id=str(row.pk), object_repr="r",
                action_flag=CHANGE, change_message="m",
            )
            for _ in range(size)
        )  # fmt: skip
