"""From the command line to an exit code: sets the world up, runs the cases, reports."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import httpx

from conformance import identities, library, options, reports, runner
from conformance.cases import all_cases, titles
from conformance.cases.refusals import begin_refusals
from conformance.client import Actor, Log
from conformance.evaluator import Evaluator
from conformance.failures import CannotRunError, Failure
from conformance.masking import Mask
from conformance.publishing import Desk, Publisher, publish_each
from conformance.registry import Case, selected
from conformance.world import World

PASSED, FAILED, COULD_NOT_RUN = 0, 1, 2
SECONDS = 60.0  # the longest that one call may take
# a server may close a connection that is idle, and some do after two seconds: never send on one that it is about to
LIMITS = httpx.Limits(keepalive_expiry=0.5)


def main(arguments: Sequence[str], transport: httpx.BaseTransport | None = None) -> int:
    """The exit code. `transport`: for tests, in place of a network."""
    parser = options.parser()
    chosen = parser.parse_args(arguments)  # argparse leaves with 2 by itself
    mask = Mask()
    try:
        cases = list(selected(all_cases(), chosen.only))
        if (done := _without_a_server(chosen, cases)) is not None:
            return done
        _demand_enough(chosen, cases)
        with ExitStack() as stack:
            world = build(chosen, mask, stack, transport)
            _publish(world, chosen, cases)
            return report(cases, world, chosen)
    except CannotRunError as error:
        sys.stderr.write(mask.hide(f"{parser.prog}: {error}\n"))
        return COULD_NOT_RUN


def _demand_enough(chosen: argparse.Namespace, cases: list[Case]) -> None:
    if not chosen.url:
        raise CannotRunError("a URL is needed; see --help")
    if not cases:
        raise CannotRunError(f"no case fits {', '.join(chosen.only)}; see --list")


def _without_a_server(chosen: argparse.Namespace, cases: list[Case]) -> int | None:
    """What needs no server is done; None where there is more to do."""
    if chosen.write_processes is not None:
        for folder in library.write_to(chosen.write_processes):
            sys.stdout.write(f"{folder}\n")
        return PASSED
    if chosen.list:
        sys.stdout.write(reports.listing(cases, titles()))
        return PASSED
    if chosen.explain:
        found = [case for case in all_cases() if case.id == chosen.explain]
        if not found:
            raise CannotRunError(f"there is no case {chosen.explain}; see --list")
        sys.stdout.write(reports.explained(found[0]))
        return PASSED
    return None


# Setting up.


def build(
    chosen: argparse.Namespace,
    mask: Mask,
    stack: ExitStack,
    transport: httpx.BaseTransport | None = None,
    environment: Mapping[str, str] = os.environ,
) -> World:
    """The callers, signed in, and what the server says of itself. Raises CannotRunError."""
    credentials = _credentials(chosen, environment)
    log = Log(mask=mask)

    def actor(name: str, identity: identities.Identity | None) -> Actor:
        http = stack.enter_context(
            httpx.Client(
                base_url=chosen.url, timeout=SECONDS, limits=LIMITS, trust_env=False, transport=transport
            )
        )
        if identity is not None:
            _sign_in(http, identity, credentials.session, name, mask)
        value = identity.value if identity is not None else ""
        return Actor(name, http, log, path=chosen.path, value=value)

    agent = actor("agent 1", credentials.agents[0])
    world = World(
        agent=agent,
        about=_described(agent),
        other=actor("agent 2", credentials.agents[1]),
        person=actor("person 1", credentials.people[0]),
        colleague=actor("person 2", credentials.people[1]),
        operator=actor("operator", credentials.operator),
        nobody=actor("nobody", None),
        log=log,
        strict=chosen.strict,
        patience=chosen.patience,
    )
    _prove_all(world)
    _open(world, chosen, stack)
    return world


def _credentials(chosen: argparse.Namespace, environment: Mapping[str, str]) -> identities.Credentials:
    session: dict[str, str | None] = {
        "sign_in": chosen.sign_in,
        "csrf_cookie": chosen.csrf_cookie,
        "csrf_header": chosen.csrf_header,
    }
    if chosen.credentials is not None:
        return identities.from_file(chosen.credentials, **session)
    return identities.from_environment(environment, **session)


def _sign_in(
    http: httpx.Client, identity: identities.Identity, session: identities.Session, name: str, mask: Mask
) -> None:
    """Make the client call as this identity; whatever proves it is masked from then on."""
    mask.add(identity.bearer, f"key of {name}")
    mask.add(identity.password, f"password of {name}")
    identities.prove(http, identity, session, name)
    for cookie, value in http.cookies.items():
        mask.add(value, f"{cookie} of {name}")


def _described(agent: Actor) -> dict[str, Any]:
    try:
        return agent.ok("describe")
    except Failure as failure:
        raise CannotRunError(f"describe does not work, so nothing can be tried: {failure.message}") from None


def _prove_all(world: World) -> None:
    for who in (world.agent, world.other, *world.people):
        try:
            who.ok("get_work", limit=1)
        except Failure as failure:
            raise CannotRunError(f"{who.name} can't call the server: {failure.message}") from None


def _open(world: World, chosen: argparse.Namespace, stack: ExitStack) -> None:
    """The suite's own evaluator and the desk for publishing, as far as the options ask for them."""
    if chosen.evaluator_port is not None:
        world.evaluator = stack.enter_context(Evaluator(chosen.evaluator_port))
    if chosen.publish_command:
        roles = {library.TEAM: library.TEAM, **dict(_role(text) for text in chosen.roles)}
        world.publisher = Publisher(chosen.publish_command, roles)
        world.desk = Desk(world.publisher, max(1, chosen.publish_jobs))
        stack.callback(world.desk.close)
    elif not chosen.already_published:
        raise CannotRunError(
            "say how the process files get published: --publish-command or --already-published"
        )


def _role(text: str) -> tuple[str, str]:
    role, sign, group = text.partition("=")
    if not (role and sign and group):
        raise CannotRunError(f"--role {text}: write ROLE=GROUP")
    return role, group


def _publish(world: World, chosen: argparse.Namespace, cases: list[Case]) -> None:
    """Publish what the server can run, and begin with the broken files that the chosen cases are about."""
    files = [file for file in library.files() if not any(world.lacks(need) for need in file.needs)]
    if world.publisher is not None:
        folders = {file.name: file.folder for file in files}
        done = publish_each(world.publisher, folders, max(1, chosen.publish_jobs))
        world.refusals = {name: outcome for name, outcome in done.items() if not outcome.published}
    try:
        listed = {item["name"] for item in world.listed(world.agent, "list_processes")}
    except Failure as failure:
        raise CannotRunError(f"list_processes does not work: {failure.message}") from None
    ours = {file.name for file in files}
    world.published = (listed & ours) - set(world.refusals)
    if not world.published:
        said = next((outcome.said for outcome in world.refusals.values()), "none of them is listed")
        raise CannotRunError(f"no process file of the suite was published: {said[-1500:]}")
    if world.desk is not None:
        begin_refusals(world, world.desk, {case.id for case in cases})


# Running.


def report(cases: list[Case], world: World, chosen: argparse.Namespace) -> int:
    """TAP as it goes, the table at the end, the exit code."""
    mask = world.log.mask
    out = sys.stdout
    out.write(reports.tap_head(len(cases)))
    results = []
    for number, result in enumerate(runner.run(cases, world), start=1):
        out.write(reports.tap_line(number, result, mask))
        out.flush()
        results.append(result)
    out.write(f"# {reports.summary(results)}\n")
    if chosen.markdown is not None:
        chosen.markdown.write_text(reports.markdown(results, chosen.url, titles(), mask), encoding="utf-8")
    verdicts = {result.verdict for result in results}
    return FAILED if "failed" in verdicts or (chosen.no_skips and "skipped" in verdicts) else PASSED
