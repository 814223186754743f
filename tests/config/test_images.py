"""Dockerfile and compose.yaml can't be built everywhere; that what they name exists can be seen everywhere."""

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
APPS = {"config", "checks", "processes", "approvals"}
# what the server reads while it runs, beside its packages
NEEDED = {*APPS, "manage.py", "templates", "static", "examples"}
SERVICES = {"migrate", "web", "worker", "beat", "postgres", "redis"}


@cache
def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [
        (word.upper(), rest.strip())
        for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())
    ]


def of(word: str) -> list[str]:
    return [rest for found, rest in instructions() if found == word]


@cache
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def services() -> dict[str, Any]:
    return compose()["services"]


def ours() -> dict[str, Any]:
    return {name: one for name, one in services().items() if one["image"] == "countersign"}


def variables(value: Any) -> set[str]:
    return set(re.findall(r"\$\{(\w+)", json.dumps(value)))


# ---- the Dockerfile


def test_what_is_copied_exists_and_is_enough():
    copied = set()
    for rest in of("COPY"):
        *sources, _ = shlex.split(rest)
        if not sources[0].startswith("--from"):
            copied.update(sources)
    assert not [source for source in copied if not (ROOT / source).exists()]
    assert copied >= NEEDED


def test_what_is_copied_is_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept >= NEEDED | {"requirements.txt", "requirements-s3.txt"}
    assert not [name for name in kept if not (ROOT / name).exists()]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-s3.txt"])
def test_packages_are_hashed(name):
    lines = (ROOT / name).read_text().replace("\\\n", " ").splitlines()
    assert len(lines) > 20
    assert all("==" in line and "--hash=sha256:" in line for line in lines)
    assert any("--require-hashes" in rest for rest in of("RUN"))


def test_the_server_runs_as_nobody_in_particular():
    words = [word for word, _ in instructions()]
    assert of("USER") == ["countersign"]
    assert words.index("USER") > max(n for n, word in enumerate(words) if word in ("RUN", "COPY"))


def test_the_command_is_gunicorn_with_our_file():
    (command,) = map(json.loads, of("CMD"))
    assert command[0] == "gunicorn" and (ROOT / command[command.index("-c") + 1]).is_file()
    assert any("collectstatic" in rest for rest in of("RUN"))


def test_no_secret_is_built_in():
    assert not [rest for rest in [*of("ENV"), *of("ARG")] if re.search(r"SECRET|PASSWORD|KEY", rest)]
    text = (ROOT / "Dockerfile").read_text()
    assert "://" not in text and "index" not in text  # packages come from wherever the builder is set to


# ---- compose.yaml


def test_all_the_services_are_there():
    assert set(services()) == SERVICES
    assert set(ours()) == SERVICES - {"postgres", "redis"}


def test_each_service_that_stays_is_watched():
    for name, one in services().items():
        assert ("healthcheck" in one) is (name != "migrate"), name
    test = services()["web"]["healthcheck"]["test"]
    assert "/v1/health" in test[-1]
    compile(test[-1], "healthcheck", "exec")


def test_what_a_service_waits_for_exists():
    for name, one in services().items():
        for other, how in one.get("depends_on", {}).items():
            assert other in services(), name
            watched = "healthcheck" in services()[other]
            assert how["condition"] == ("service_healthy" if watched else "service_completed_successfully")


def test_volumes_are_declared_and_used():
    mounted = {volume.partition(":")[0] for one in services().values() for volume in one.get("volumes", [])}
    assert mounted == set(compose()["volumes"])


def test_commands_exist():
    from django.core.management import get_commands

    for name, one in ours().items():
        for command in (one.get("command"), one.get("healthcheck", {}).get("test", [None, None])[1:]):
            if command and "manage.py" in command:
                assert command[command.index("manage.py") + 1] in get_commands(), name
            if command and command[0] == "celery":
                assert command[1:3] == ["-A", "config"] and command[3] in ("worker", "beat")


def test_secrets_come_from_the_environment():
    text = (ROOT / "compose.yaml").read_text()
    for name in ("SECRET_KEY", "RECEIPT_KEY", "POSTGRES_PASSWORD"):
        assert f"${{{name}:?" in text, "it refuses to start without"
    for one in services().values():
        for key, value in one.get("environment", {}).items():
            if re.search(r"SECRET|PASSWORD|_KEY", key):
                assert str(value).startswith("${"), key


def test_every_setting_of_the_env_file_reaches_every_part_of_ours():
    for name, one in ours().items():
        assert one["env_file"] == [{"path": ".env", "required": False}], name
        # what stands here stands above the file, so only what compose.yaml knows better, or will not start without
        handed_on = {key for key, value in one["environment"].items() if str(value).startswith("${")}
        assert handed_on <= {"SECRET_KEY", "RECEIPT_KEY", "WEB_CONCURRENCY"}, name
    assert ".env" in (ROOT / ".gitignore").read_text().splitlines()


def test_settings_are_real_ones():
    """Every variable that a service is given is one that the server reads, or the image's own."""
    read = "".join(path.read_text("utf-8") for path in (ROOT / "config").glob("*.py"))
    for one in ours().values():
        for name in one["environment"]:
            assert f'"{name}"' in read, name


def test_every_setting_is_documented():
    told = (ROOT / "docs" / "settings.md").read_text("utf-8")
    read = "".join(path.read_text("utf-8") for path in (ROOT / "config").glob("*.py"))
    names = set(re.findall(r"\benv\.\w+\(\s*\"(\w+[A-Z0-9])\"", read))
    assert names > {"SECRET_KEY", "REQUEST_RESULT_DAYS", "S3_BUCKET"}
    assert not [name for name in names if f"`{name}`" not in told]


def test_nothing_but_the_web_is_reached_from_outside():
    assert [name for name, one in services().items() if "ports" in one] == ["web"]
    assert all(port.startswith("127.0.0.1:") for port in services()["web"]["ports"])


def test_there_is_time_to_end():
    """Longer than gunicorn waits for its calls, and than a worker for its checks."""
    from django.conf import settings

    grace = {name: int(one.get("stop_grace_period", "10s")[:-1]) for name, one in services().items()}
    assert grace["web"] > settings.CHECK_WAIT_SECONDS + 10
    assert grace["worker"] > settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT


def test_ours_are_locked_down():
    for one in ours().values():
        assert one["read_only"] and one["cap_drop"] == ["ALL"]
        assert one["security_opt"] == ["no-new-privileges:true"]
