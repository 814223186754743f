"""upload: store a file, get its id and the hash that its bytes must keep."""

import base64
import binascii
from typing import Any

from django.conf import settings
from django.db import transaction

from processes import bounds, files
from processes.errors import ToolError
from processes.pipeline import Call, Result


def run(call: Call) -> dict[str, Any]:
    content = _content(call.arguments)
    bounds.refuse_uploads(call.caller.id, len(content))
    upload = files.store(
        content,
        file_name=call.arguments["fileName"],
        content_type=call.arguments["contentType"],
        by=call.caller.id,
    )
    done = Result({"id": upload.pk, "sha256": upload.sha256, "bytes": upload.size}, {})
    with transaction.atomic(durable=True):
        try:
            upload.save(force_insert=True)
            call.record(done, run=None)
        except BaseException:
            # Not at the COMMIT: one that gets no answer may yet have happened, and then the bytes are somebody's.
            files.discard(upload)
            raise
    return done.full()


def _content(arguments: Any) -> bytes:
    issues = []
    if not files.FILE_NAME.fullmatch(arguments["fileName"]):
        issues.append("fileName: a plain name without slashes or control characters")
    if not files.CONTENT_TYPE.fullmatch(arguments["contentType"]):
        issues.append("contentType: expected a media type such as text/plain")
    content = b""
    try:
        content = base64.b64decode(arguments["contentBase64"], validate=True)
    except (binascii.Error, ValueError):
        issues.append("contentBase64: not base64")
    if len(content) > settings.MAX_UPLOAD_BYTES:
        issues.append(f"contentBase64: {len(content)} bytes, at most {settings.MAX_UPLOAD_BYTES}")
    if issues:
        raise ToolError("invalid", "The file can't be stored as it was sent.", issues)
    return content
