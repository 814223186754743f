"""What opens commitments, by what it is of. An app adds its own at start-up: `manage.py forget_salts` has an option for each."""

from collections.abc import Callable

# what it is of → forgets the salt of the one with that id; False where there was none to forget
forgetters: dict[str, Callable[[str], bool]] = {}
