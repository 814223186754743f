"""The form of one evaluator: refusals in words, and a key that goes only where it was chosen for."""

import re
from typing import Any

from django import forms
from django.conf import settings

from checks import roster
from checks.evaluators import EVALUATORS, guard
from checks.evaluators.presets import PRESETS
from checks.models import Evaluator
from checks.system_checks import PATHS, split

FIELDS = (
    "name", "enabled", "position", "preset", "account", "wire", "base", "model", "key_variable",
    "seconds", "at_once", "input_price", "output_price",
)  # fmt: skip
WIRES = {
    "system_one": "System One",
    "decisions": "decisions (OpenAI's shape)",
    "chat": "chat completions",
    "heuristic": "word match, no model",
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_ACCOUNT = re.compile(r"[A-Za-z0-9_-]+")
MOVED = (
    "The address changed, so the key was taken off: it went to {old}. Choose it again if {new} is to get it, "
    "or save without one."
)


class EvaluatorForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    # where the key that is shown as chosen would go; sent back, it tells a choice from what merely stayed
    key_for = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Evaluator
        fields = FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = {name: preset.label for name, preset in PRESETS.items()}
        self.fields["preset"] = forms.ChoiceField(
            required=False,
            choices=[("", "none: as entered below"), *named.items()],
            help_text="Address, wire, model and quirks of a known server; what is entered below wins.",
        )
        self.fields["wire"] = forms.ChoiceField(
            required=False,
            choices=[("", "the preset's"), *((kind, WIRES.get(kind, kind)) for kind in EVALUATORS)],
            help_text="Without a preset: how it is spoken to.",
        )
        self.fields["key_variable"] = forms.ChoiceField(
            required=False,
            label="Key",
            choices=[("", "none"), *((name, name) for name in self._variables())],
            help_text="An EVALUATOR_KEY_… variable of the server's environment; the key itself is never kept here.",
        )
        self.fields["key_for"].initial = self.instance.key_origin

    def _variables(self) -> list[str]:
        kept = self.instance.key_variable
        return sorted({*settings.EVALUATOR_KEYS, *([kept] if kept else [])})

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not _NAME.fullmatch(name):
            raise forms.ValidationError("Write small letters, digits, _ and -, such as groq or our-vllm.")
        return name

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        preset = PRESETS.get(found.get("preset", ""))
        wire = preset.wire if preset else found.get("wire", "")
        if preset is None and not wire:
            self.add_error("preset", "Choose a preset, or a wire below.")
            return found
        if preset and found.get("wire"):
            self.add_error("wire", f"{preset.label} speaks its own wire. Leave this, or choose no preset.")
        if wire == "heuristic":
            self._refuse_unused(found)
            return found
        if not preset and not found.get("model"):
            self.add_error("model", "Name the model to ask for.")
        base = self._base(found, wire)
        if base:
            self._bind(found, base)
        return found

    def _refuse_unused(self, found: dict[str, Any]) -> None:
        self.instance.key_origin = ""
        for name in ("base", "model", "account", "key_variable"):
            if found.get(name):
                self.add_error(name, "Word match asks no server. Leave it empty.")

    def _base(self, found: dict[str, Any], wire: str) -> str:
        """The address that it would have, or nothing where it has none that will do."""
        preset = PRESETS.get(found.get("preset", ""))
        entered = found.get("base", "").rstrip("/")
        if (
            not entered
            and preset
            and preset.needs_account
            and not _ACCOUNT.fullmatch(found.get("account", ""))
        ):
            self.add_error("account", f"{preset.label} needs your account's id: letters, digits, _ and -.")
            return ""
        base = entered or (preset.base_of(found.get("account", "")) if preset else "")
        place = "base" if entered or not preset else "preset"
        if message := _unfit(base, PATHS[wire], own_path=bool(preset and preset.path)):
            self.add_error(place, message)
            return ""
        host = roster.host(base)
        if guard.looks_private(host) and not guard.is_allowed(host):
            self.add_error(
                place,
                f"{host} is no public address. Whoever runs the server can allow it: EVALUATOR_PRIVATE_HOSTS={host}.",
            )
            return ""
        found["base"] = entered
        return base

    def _bind(self, found: dict[str, Any], base: str) -> None:
        """A key that was chosen for one place is not sent to another because the address changed."""
        chosen, going = found.get("key_variable", ""), roster.origin(base)
        if not chosen:
            self.instance.key_origin = ""
            return
        if base.startswith("http:") and not guard.is_allowed(roster.host(base)):
            self.add_error("key_variable", "A key is not sent over plain http. Use https, or no key.")
            return
        was, stayed = self.instance.key_origin, chosen == self.instance.key_variable
        if stayed and going != was and found.get("key_for") != going:
            self.add_error("key_variable", MOVED.format(old=was, new=going))
            shown: Any = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
            shown[self.add_prefix("key_variable")], shown[self.add_prefix("key_for")] = "", going
            self.data = shown
            return
        self.instance.key_origin = going


def _unfit(base: str, path: str, *, own_path: bool) -> str:
    """Why this is no base, or nothing."""
    url = split(base)
    if url is None:
        return "Write an http or https address, such as https://api.example.org/v1."
    if url.username is not None or url.query or url.fragment:
        return "Leave out credentials, query and fragment; a key is chosen below."
    twice = next((end for end in (path, "/v1") if url.path.endswith(end) and path.startswith(end)), "")
    return f"Leave out {twice}, which is added to it." if twice and not own_path else ""
