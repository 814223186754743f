"""Who is killed when. Everything is started again at once, as a supervisor would."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.chaos.cluster import Cluster

# how often each kind is hit, in a thousand; the database is down for longest, so it is hit least
SHARES = {"web": 460, "worker": 380, "beat": 110, "redis": 35, "postgres": 15}


@dataclass
class Killer:
    cluster: Cluster
    seed: int
    pause: tuple[float, float]  # seconds between two kills, at least and at most
    killed: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def run(self, kills: int, told: Callable[[int], None]) -> None:
        for number in range(1, kills + 1):
            time.sleep(self._random.uniform(*self.pause))
            self._strike(self._random.choices(list(SHARES), list(SHARES.values()))[0])
            told(number)

    def each_once(self) -> None:
        """The short form: nothing is left to luck."""
        for kind in SHARES:
            time.sleep(self._random.uniform(*self.pause))
            self._strike(kind)

    def _strike(self, kind: str) -> None:
        victims = {
            "web": self.cluster.webs,
            "worker": self.cluster.workers,
            "beat": [self.cluster.beat],
            "redis": [self.cluster.redis],
            "postgres": [self.cluster.postgres],
        }[kind]
        victim = self._random.choice(victims)
        victim.again()
        self.killed[kind] += 1
