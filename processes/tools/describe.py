"""describe: what this server speaks and offers. Needs no key."""

from typing import Any

from django.conf import settings

from checks import limits
from processes import profiles
from processes.pipeline import Call


def run(call: Call) -> dict[str, Any]:
    from processes.tools import TOOLS

    now = limits.current()
    return {
        "protocol": profiles.PROTOCOL,
        "version": profiles.VERSION,
        "profiles": profiles.profiles(),
        "leaseSeconds": settings.LEASE_SECONDS,
        "person": {"format": "email"},
        "tools": list(TOOLS),
        "maxUploadBytes": settings.MAX_UPLOAD_BYTES,
        "limits": {
            "runDataBytes": settings.RUN_DATA_BYTES,
            "checkPass": now.check_pass,
            "checkFail": now.check_fail,
            "checkConfidence": now.check_confidence,
            "checkStateBytes": now.check_state_bytes,
        },
    }
