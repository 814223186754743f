"""Wrong about what is published, and about what stays as it was published."""

from contextlib import contextmanager
from unittest import mock

from processes import document, graph, publishing, versions
from tests.conformance_suite.mutants.registry import at_the_door, mutant


@mutant("circles-published", "A file whose steps go in a circle is published.", "refuse.loop", publishes=True)
def circles_published():
    return mock.patch.object(graph, "_check_circles", return_value=None)


@mutant(
    "dead-ends-published", "A step that no way leads to is published.", "refuse.unreachable", publishes=True
)
def dead_ends_published():
    return mock.patch.object(graph, "_check_reachable", return_value=None)


@mutant("branches-leave", "A branch may go on outside of its fork.", "refuse.branch-out", publishes=True)
def branches_leave():
    return mock.patch.object(document, "check_branches", return_value=None)


@mutant(
    "editions-follow",
    "A run that goes on is of the version that was published last.",
    "version.pinned",
    publishes=True,
)
@contextmanager
def editions_follow():
    real = versions.parse

    def parse(text):
        found = real(text)
        newest = publishing.latest(found.document.name) if found.document is not None else None
        return real(newest.text) if newest is not None else found

    def forget(call, *given):
        versions.compiled.cache_clear()  # what a process keeps of a version hides the mutation
        return call(*given)

    with mock.patch.object(versions, "parse", parse), at_the_door("", forget):
        yield
