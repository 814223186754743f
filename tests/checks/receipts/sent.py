"""What the tests send to the judge, and what a receipt says where it holds."""

import json

from checks import codec
from checks.receipts import keys
from checks.receipts.verifying import examine

BODY = {
    "task": "Say from where the ferry leaves.",
    "agent_output": "The ferry leaves from pier 3.",
    "evidence": ["The ferry leaves at 07:40 from pier 3."],
    "criteria": ["Names the pier"],
    "checks": [{"type": "regex", "expected": "pier \\d"}],
}
ANSWERS = [{"agent_id": "a", "output": "Pier 3"}, {"output": "It leaves from pier 3."}]


def said(receipt):
    examined = examine(receipt, keys.published())
    assert examined.valid, examined.reason
    return json.loads(codec.dumps(examined.payload))
