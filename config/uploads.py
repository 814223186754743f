"""Where uploaded files are kept: a folder of this machine, or a bucket of an S3-compatible store (`S3_…`).

Nothing in it is for the public: the store is never asked for an address, and files go out through the server
alone, by addresses of its own (`processes.files`). Objects get no ACL, so that the bucket's own word holds.
"""

from importlib.util import find_spec
from typing import Any

from config import environment as env

NAMES = (
    "S3_ENDPOINT_URL",
    "S3_REGION",
    "S3_ACCESS_KEY_ID",
    "S3_SECRET_ACCESS_KEY",
    "S3_PREFIX",
    "S3_ADDRESSING",
)
_MEMORY_BYTES = 1024 * 1024  # of a file that is read; the rest waits on disk


def storage() -> dict[str, Any]:
    """For `STORAGES`. Half of a configuration is told by a system check, not here."""
    if not env.text("S3_BUCKET"):
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
        }
    addressing = env.choice("S3_ADDRESSING", "auto", ["auto", "path", "virtual"])
    options: dict[str, Any] = {
        "bucket_name": env.text("S3_BUCKET"),
        "endpoint_url": env.text("S3_ENDPOINT_URL") or None,
        "region_name": env.text("S3_REGION") or None,
        "location": env.text("S3_PREFIX").strip("/"),
        "default_acl": None,
        "querystring_auth": True,
        "custom_domain": None,
        "file_overwrite": True,  # names can't be guessed and never come twice: spares the question whether it is there
        "max_memory_size": _MEMORY_BYTES,
    }
    if env.text("S3_ACCESS_KEY_ID"):  # else the machine's own role, or AWS_… as its tools read it
        options |= {
            "access_key": env.text("S3_ACCESS_KEY_ID"),
            "secret_key": env.text("S3_SECRET_ACCESS_KEY"),
        }
    if installed():
        from botocore.config import Config

        options["client_config"] = Config(
            connect_timeout=2, read_timeout=20, retries={"max_attempts": 2}, signature_version="s3v4",
            s3={"addressing_style": addressing},
            # stores other than Amazon's know no newer ones; ours are in the database (`Upload.sha256`)
            request_checksum_calculation="when_required", response_checksum_validation="when_required",
        )  # fmt: skip
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


def installed() -> bool:
    """Whether the optional packages are there."""
    return find_spec("storages") is not None and find_spec("botocore") is not None
