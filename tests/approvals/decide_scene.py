"""A case before its decision, and a form that is sent."""

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile

from checks import codec
from processes.models import WorkItem
from tests.approvals.deciding import FORMS, Desk, open_item, supply

CHANGED = {
    "decision": "changes", "output__cleared": "false", "output__total": "0.10", "kept": ["0", "1"],
    "next": "sign", "reason": "no match",
}  # fmt: skip

TASK = {
    "decision": "changes", "output__number": "A-1", "output__grade": "2", "output__opened": "2026-11-30",
    "summary": "Opened.",
}  # fmt: skip


def a_file(name="terms.pdf", content=b"%PDF", kind="application/pdf"):
    return SimpleUploadedFile(name, content, kind)


@pytest.fixture
def house(world, evaluator, settings, tmp_path):
    """Ada and Ben may decide; Cy is in another group; Olga operates."""
    settings.MEDIA_ROOT = tmp_path
    world.publish(FORMS, finance="finance", escalations="finance")
    world.scripted = evaluator
    world.worker = world.agent("screening-agent")
    world.users = {
        "ada": world.user("ada", "finance"),
        "ben": world.user("ben", "finance"),
        "cy": world.user("cy", "legal"),
        "olga": world.user("olga", operator=True),
    }
    return world


@pytest.fixture
def ada(house):
    return Desk(house.users["ada"])


@pytest.fixture
def ben(house):
    return Desk(house.users["ben"])


@pytest.fixture
def unsure(house):
    """An unsure submission's item."""
    house.scripted.script = [[0.7]]
    supply(house, house.worker)
    return open_item()


@pytest.fixture
def approval(house):
    """Nobody was unsure: an approval's item."""
    house.scripted.script = [[0.95]]
    supply(house, house.worker)
    return open_item()


@pytest.fixture
def task(house, approval, ada):
    """The approval is given: the task's item."""
    ada.sends(ada.opens(approval), decision="candidate")
    return open_item()


def row(item):
    return WorkItem.objects.get(pk=item)


def data(item):
    return codec.loads(row(item).run.data)


def kept_open(item):
    """Nothing was sent: the item is open and nobody decided."""
    return (row(item).state, row(item).decision) == ("open", "")


def told(response):
    return [str(message) for message in get_messages(response.wsgi_request)][-1]
