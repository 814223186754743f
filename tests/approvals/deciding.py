"""A person before an item's page: reads its form as a browser does, fills it in, sends it."""

from html.parser import HTMLParser

from django.test import Client
from django.urls import reverse

from checks import codec
from processes.models import WorkItem

FORMS = """\
---
name: forms
description: A checked agent step with everything in its form, an approval, a task that is checked too.
inputs: { supplier: string }
steps:
  - id: screen
    agent: Search the lists.
    output:
      cleared: boolean
      total: number
      terms: { type: string, optional: true }
      risk: { type: string, one_of: [low, high], optional: true }
    evidence: [file, link]
    next:
      - { to: sign, when: No list has a match }
      - { to: declined, when: A list has a match }
    check: [{ ask: The finding supports the verdict., pass: 0.9, fail: 0.5 }]
  - id: sign
    approve: Sign it.
    person: finance
    on_reject: screen
    next: account
  - id: account
    task: Open the account.
    person: finance
    output: { number: string, grade: { type: number, one_of: [1, 2, 3, 4, 5, 6] }, opened: date }
    evidence: [file]
    next: last
    check: [{ ask: The account fits the supplier., pass: 0.9, fail: 0.5 }]
  - id: last
    approve: Close it.
    person: finance
    next: done
  - id: declined
    finish: declined
  - id: done
    finish: onboarded
---
"""
PAIR = """\
---
name: pair
description: Two people work side by side.
inputs: { supplier: string }
steps:
  - id: split
    parallel: [left, right]
    next: done
  - { id: left, task: Left., person: finance, output: { a: number, b: { type: string, optional: true } }, next: join }
  - { id: right, task: Right., person: finance, output: { c: string }, next: join }
  - { id: done, finish: done }
---
"""
OUTPUT = codec.loads('{"cleared": true, "total": 48000.10, "terms": "net\\n30"}')


class Page(HTMLParser):
    """What a browser sees of a page: what its form would send, what the notice says, what is invalid."""

    def __init__(self, response):
        super().__init__()
        self.status = response.status_code
        self.html = response.content.decode()
        self.sends, self.invalid, self.links = {}, set(), []
        self.choices, self.buttons, self.ids = [], [], []
        self.notice, self.readonly = "", []
        self._form = self._notice = False
        self._depth, self._text, self._select, self._button = 0, None, None, None
        self.feed(self.html)
        self.notice = " ".join(self.notice.split())

    @property
    def chosen(self):
        return self.sends.get("decision", [])

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.ids.append(given["id"])
        if given.get("id") == "decision-notice":
            self._notice, self._depth = True, 0
        if self._notice:
            self._depth += tag == "section"
            if tag == "a":
                self.links.append(given["href"])
        if tag == "form" and given.get("id") == "decision":
            self._form, self.url = True, given["action"]
        if self._form or (tag == "textarea" and "readonly" in given):
            self._control(tag, given)

    def _control(self, tag, given):
        if given.get("aria-invalid") == "true":
            self.invalid.add(given.get("name") or given["aria-labelledby"])
        if tag == "input":
            self._input(given)
        elif tag == "textarea":
            self._text = ("" if "readonly" in given else given["name"], [])
        elif tag == "select":
            self._select = given["name"]
            self.sends[self._select] = [""]
        elif tag == "option" and "selected" in given:
            self.sends[self._select] = [given["value"]]
        elif tag == "button":
            self._button = []

    def _input(self, given):
        kind = given.get("type", "text")
        if kind == "radio" and given["name"] == "decision":
            self.choices.append(given["value"])
        if (kind in {"radio", "checkbox"} and "checked" not in given) or kind == "file":
            return
        self.sends.setdefault(given["name"], []).append(given.get("value", "on"))

    def handle_data(self, data):
        if self._text is not None:
            self._text[1].append(data)
        if self._button is not None:
            self._button.append(data)
        if self._notice:
            self.notice += data

    def handle_endtag(self, tag):
        if tag == "textarea" and self._text is not None:
            name, parts = self._text
            text = "".join(parts).removeprefix("\n").replace("\n", "\r\n")
            self._text = None
            if name:
                self.sends.setdefault(name, []).append(text)
            else:
                self.readonly.append(text)
        elif tag == "button" and self._button is not None:
            self.buttons.append(" ".join("".join(self._button).split()))
            self._button = None
        elif tag == "section" and self._notice:
            self._depth -= 1
            self._notice = self._depth > 0
        elif tag == "form":
            self._form = False


class Desk:
    """A signed-in person."""

    def __init__(self, user):
        self.client = Client(raise_request_exception=True)
        self.client.force_login(user)
        self.headers = {}

    def opens(self, item):
        return Page(self.client.get(reverse("case", args=[item])))

    def sends(self, page, *, drop=(), **texts):
        """Sends the page's form with other values: `note_return` is `note-return`, `output__x` is `output.x`."""
        data = {**page.sends}
        for key, value in texts.items():
            name = key.replace("note_", "note-").replace("__", ".")
            data[name] = value if isinstance(value, list) else [value]
        for name in drop:
            data.pop(name, None)
        return self.client.post(page.url, data, headers=self.headers)


def supply(world, agent, *, run=None):
    """A run at its first step, with its agent's work handed in."""
    run = run or world.start(agent, "forms", supplier="Marlow Paper")
    file = world.call(
        agent, "upload", fileName="report.txt", contentType="text/plain", contentBase64="cmVwb3J0"
    )
    token = world.claim(agent, run, "screen")["token"]
    evidence = [{"kind": "file", "ref": file["id"]}, {"kind": "link", "ref": "https://example.org/list"}]
    return world.submit(agent, token, output=OUTPUT, evidence=evidence, next="sign")


def open_item():
    return WorkItem.objects.get(state="open").pk
