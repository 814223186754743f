"""What a check of five questions adds to an evaluator's own latency, beside a bare script that asks the same.

The evaluator answers after 200 ms, in a process of its own. Bounds of ours: one latency and 60 ms over System One,
two latencies and 80 ms over chat with both orders (eight requests at once).
"""

import json
import multiprocessing
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx

from checks import judging
from checks.evaluators import Config, built
from checks.questions import Kind, Limits, Question
from tests.checks.vendor import CHOICE, RUBRIC, YES_NO
from tests.checks.vendor import material as example
from tests.servers.system_one import SystemOneServer
from tests.servers.wires import well

LATENCY, ROUNDS, AT_ONCE = 0.2, 15, 8
MORE = tuple(Question(ask=f"Is point {n} of the instructions met?", kind=Kind.YES_NO) for n in (1, 2))
QUESTIONS = (YES_NO, CHOICE, RUBRIC, *MORE)
BOUNDS = {"system_one": LATENCY * 1000 + 60, "chat": 2 * LATENCY * 1000 + 80}


def _serve(wire, pipe):
    with SystemOneServer(well(wire, wait=LATENCY)) as server:
        pipe.send(server.base_url)
        pipe.recv()


@contextmanager
def served(wire):
    """The base of a server in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(wire, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _timed(act):
    act()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        act()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken), sorted(taken)[int(ROUNDS * 0.95) - 1]


def _bodies(wire):
    """What one check sends, as it was sent to a server that answers at once."""
    with SystemOneServer(well(wire)) as server:
        _judge(wire, server.base_url)
    return [(request.path, request.body) for request in server.requests]


def _judge(wire, base):
    evaluator = built(Config(kind=wire, base=base, model="m", at_once=AT_ONCE))
    it = judging.judge(example(), QUESTIONS, Limits(), evaluator=evaluator)
    assert it.verdict == "pass", it.error


def _bare(client, bodies):
    """The same requests and nothing else: no reading, no thresholds, no retries, connections kept."""

    def post(body):
        json.loads(client.post(body[0], content=body[1]).content)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(post, bodies))


def measure():
    print(f"\na check of {len(QUESTIONS)} questions; the evaluator takes {LATENCY * 1000:.0f} ms")
    for wire, bound in BOUNDS.items():
        bodies = _bodies(wire)
        with served(wire) as base, httpx.Client(base_url=base, timeout=20) as client:
            ours, slow = _timed(lambda at=base, by=wire: _judge(by, at))
            bare, _ = _timed(lambda by=client, sent=bodies: _bare(by, sent))
        said = "within" if ours <= bound else "OVER"
        characters = sum(len(body.decode()) for _, body in bodies)
        print(
            f"{wire:12} {ours:7.1f} ms {slow:7.1f} ms p95   bare httpx {bare:7.1f} ms   {len(bodies):2} requests, "
            f"{characters:6} characters   {said} {bound:.0f} ms"
        )
