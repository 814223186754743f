"""How often somebody may try to sign in: counted for the account from one address, for the account, for the address.

The first tries are free; each one after that makes the next wait twice as long. An account's own count is looser than
its count from one address, so that a stranger elsewhere does not easily keep its owner out; and an address is an office
at times. Accounts that don't exist are counted like those that do. All is forgotten an hour after the first try.
"""

import hashlib
import math
import time
import unicodedata
from dataclasses import dataclass

from checks import memory

REMEMBERED_SECONDS = 3600
# free tries within that time, and the longest wait after them
TOGETHER, ACCOUNT, ADDRESS = (5, 900), (30, 900), (100, 60)


@dataclass(frozen=True, slots=True)
class Try:
    """One try of one account from one address."""

    account: str
    address: str

    def _counts(self) -> dict[str, tuple[int, int]]:
        """Each counter, how many tries are free in it, and how long a wait grows."""
        account, address = _name(self.account), _name(self.address)
        return {
            f"sign-in:{account}:{address}": TOGETHER,
            f"sign-in:account:{account}": ACCOUNT,
            f"sign-in:address:{address}": ADDRESS,
        }

    def begin(self) -> int:
        """Count it before the password is looked at; the seconds to wait where it is one too many (0 = go on).

        While somebody has to wait nothing is counted, so that a wait ends. Of tries that come at once, each beyond the
        free ones has to be the only one that takes its turn.
        """
        counts = self._counts()
        if waits := [left for key in counts if (left := _left(key))]:
            return max(waits)
        longest = 0
        for key, (free, most) in counts.items():
            tried = memory.count(key, REMEMBERED_SECONDS)
            if tried > free:
                delay = min(2 ** min(tried - free, 20), most)
                if not memory.take(f"{key}:until", time.time() + delay, delay):
                    longest = max(longest, _left(key), 1)
        return longest

    def succeeded(self) -> None:
        """It was the account's owner. The address's other tries stay: an account of one's own clears no others'."""
        together, account, address = self._counts()
        memory.forget(together, account, f"{together}:until", f"{account}:until")
        memory.count(address, REMEMBERED_SECONDS, by=-1)


def _left(key: str) -> int:
    """How many seconds until this counter lets somebody try again."""
    until = memory.get(f"{key}:until")
    return max(0, math.ceil(until - time.time())) if until is not None else 0


def _name(text: str) -> str:
    """Of any length and any characters, and not to be read by whoever sees the cache."""
    return hashlib.sha256(unicodedata.normalize("NFKC", text).strip().casefold().encode()).hexdigest()[:32]
