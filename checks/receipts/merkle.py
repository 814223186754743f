"""The Merkle tree of a checkpoint: that of RFC 6962 (and RFC 9162), over SHA-256.

A leaf is `SHA-256(0x00 || data)`, a node `SHA-256(0x01 || left || right)`; a node without a neighbour goes up as it is. The data
of a leaf is the canonical JSON of `[chain, seq, hash]`, and leaves stand in the order of these bytes.
"""

import hashlib
from collections.abc import Sequence

from checks import codec

Leaf = tuple[str, int, str]


def data(leaf: Leaf) -> bytes:
    return codec.canonical(list(leaf)).encode("utf-8")


def ordered(leaves: Sequence[Leaf]) -> list[Leaf]:
    return sorted(leaves, key=data)


def root(leaves: Sequence[Leaf]) -> bytes:
    """Of leaves in their order. Raises ValueError where there is none."""
    level = [_leaf(leaf) for leaf in leaves]
    if not level:
        raise ValueError("a tree has at least one leaf")
    while len(level) > 1:
        level = _above(level)
    return level[0]


def path(leaves: Sequence[Leaf], index: int) -> list[bytes]:
    """The neighbours from a leaf up to the root: with them `climb` proves this leaf without telling the others."""
    level, found = [_leaf(leaf) for leaf in leaves], []
    while len(level) > 1:
        beside = index ^ 1
        if beside < len(level):
            found.append(level[beside])
        level, index = _above(level), index // 2
    return found


def climb(leaf: Leaf, index: int, count: int, neighbours: Sequence[bytes]) -> bytes | None:
    """The root above a leaf at a place among so many; None where the path does not fit a tree of that size."""
    if not 0 <= index < count:
        return None
    left, node = list(neighbours), _leaf(leaf)
    while count > 1:
        if index ^ 1 < count:
            if not left:
                return None
            beside = left.pop(0)
            node = _node(beside, node) if index % 2 else _node(node, beside)
        index, count = index // 2, (count + 1) // 2
    return None if left else node


def _above(level: list[bytes]) -> list[bytes]:
    pairs = [_node(level[place], level[place + 1]) for place in range(0, len(level) - 1, 2)]
    return pairs if len(level) % 2 == 0 else [*pairs, level[-1]]


def _leaf(leaf: Leaf) -> bytes:
    return hashlib.sha256(b"\x00" + data(leaf)).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()
