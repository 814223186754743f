"""Secrets out of every line that leaves the suite: keys, passwords, session cookies, claim tokens."""

from collections.abc import Iterable

SHORTEST = 6  # what is shorter would blot out ordinary words


class Mask:
    """`mask.add(secret, "key of agent 1")`, then `mask.hide(text)` says `«key of agent 1»` instead."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}
        self._tokens = 0

    def add(self, secret: str, name: str) -> None:
        if len(secret) >= SHORTEST:
            self._secrets.setdefault(secret, f"«{name}»")

    def add_token(self, token: str) -> None:
        """A claim token that a server just gave; each gets a number, so that a reader can tell them apart."""
        if token not in self._secrets:
            self._tokens += 1
            self.add(token, f"token {self._tokens}")

    def hide(self, text: str) -> str:
        for secret in sorted(self._secrets, key=len, reverse=True):
            if secret in text:
                text = text.replace(secret, self._secrets[secret])
        return text

    def leaked(self, text: str, tokens: Iterable[str]) -> str | None:
        """The name of the first of these tokens that the text holds; None where it holds none."""
        return next((self._secrets.get(token, "a token") for token in tokens if token in text), None)
