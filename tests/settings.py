"""Settings of the tests: the project's own, with a throw-away folder and a fast password hasher.

`DATABASE_URL` decides the database (SQLite in a file by default, so that it locks as in production).
"""

import atexit
import os
import shutil
import tempfile

# one folder per run, handed down to the workers and servers that a run starts; in it one of each worker's own, so that
# none sees the files of another
if "COUNTERSIGN_TEST_DIR" not in os.environ:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a folder of its own in it
    os.environ["COUNTERSIGN_TEST_DIR"] = tempfile.mkdtemp(prefix="countersign-tests-", dir=memory)
    atexit.register(shutil.rmtree, os.environ["COUNTERSIGN_TEST_DIR"], ignore_errors=True)
os.environ["VAR_DIR"] = os.path.join(  # noqa: PTH118 - as text, for the environment
    os.environ["COUNTERSIGN_TEST_DIR"], os.environ.get("PYTEST_XDIST_WORKER", "main")
)
os.makedirs(os.environ["VAR_DIR"], exist_ok=True)  # noqa: PTH103 - likewise
KEPT_OUT = (
    "EVALUATOR",
    "SITE_URL",
    "BROKER_URL",
    "RESULT_URL",
    "CACHE_URL",
    "S3_",
    "LOG_",
    "BEHIND_PROXY",
    "STATIC_ROOT",
    "JUDGE_",
    "RETAIN_DAYS",
    "REQUEST_RESULT_DAYS",
    "RECEIPT_",
    "BASE_RPC_URL",
    "SOLANA_RPC_URL",
)
for name in list(os.environ):
    if name.startswith(KEPT_OUT):
        os.environ.pop(name)

from config.settings import *  # noqa: F403
from config.settings import DATABASES, VAR_DIR

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SECRET_KEY = "tests only"
# tests call faster than anybody; those that show the bounds set their own
CALLS_PER_MINUTE = ANONYMOUS_CALLS_PER_MINUTE = 0
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "test.sqlite3")}
else:
    # a crash of the machine may lose the last commits of a test; nothing that a test shows hangs on that
    DATABASES["default"]["OPTIONS"] = {"options": "-c synchronous_commit=off"}
