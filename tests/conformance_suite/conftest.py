import tempfile
from pathlib import Path

import pytest
from django.conf import settings

from conformance import command
from tests.conformance_suite import inprocess


@pytest.fixture(scope="module")
def server(django_db_setup, django_db_blocker):
    """One published world for a module; its runs stand beside each other."""
    if not settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        pytest.skip("the suite's world is a SQLite database of its own")
    with (
        tempfile.TemporaryDirectory(dir=settings.VAR_DIR) as folder,  # in memory, where there is room
        pytest.MonkeyPatch.context() as patch,
        django_db_blocker.unblock(),
    ):
        patch.setattr(command, "Publisher", inprocess.Publisher)
        with inprocess.serving(Path(folder)) as made:
            yield made


@pytest.fixture(autouse=True)
def _fresh_versions():
    """What was parsed of the published files stays good for a whole module; `Server.run` knows when it is not."""
