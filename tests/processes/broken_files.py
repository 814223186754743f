"""Every way to break a process file that its rules know: one edit a row, and the one issue it leads to."""

from processes.yamlcore import MAX_EVENTS
from tests.processes.process_samples import LOAN, MOVE, Row, process


def loan(rule, old, new, step, key, at, says):
    return Row(rule, old, new, step, key, at, says, base=LOAN)


def move(rule, old, new, step, key, at, says):
    return Row(rule, old, new, step, key, at, says, base=MOVE)


def bare(rule, steps, step, key, at, says):
    return Row(rule, "", "", step, key, at, says, base=process(steps))


def section(start, end, base=LOAN):
    """The part of a sample from one piece to another."""
    return base[base.index(start) : base.index(end)]


STEPS = section("steps:", "---\n\n# L")
REQUIRES = section("requires:", "steps:")
CHECK = section("    check:", "    advisory")
END = "{id: end, finish: done}"

# fmt: off
FILE = [
    loan("too-large", "# Lending equipment", "x" * 262_144, "", "", None, "more than 262144 bytes"),
    loan("too-large", "# Lending equipment", "€" * 87_500, "", "", None, "more than 262144 bytes"),
    loan("unstorable", "# Lending", "# \x00", "", "", "# \x00", "U+0000"),
    loan("unstorable", "Start this", "Start \udc80", "", "", "Start \udc80", "U+DC80"),
    loan("no-opening", "---\nname", "name", "", "", 1, "opens with a line that is exactly ---"),
    loan("no-opening", "---\nname", "--- \nname", "", "", 1, "opens with a line that is exactly ---"),
    loan("no-opening", "---\nname", "\n---\nname", "", "", 1, "Make that line 1"),
    loan("no-closing", "---\n\n# L", "\n\n# L", "", "", 1, "never closed"),
    loan("no-closing", "---\n\n# L", "----\n\n# L", "", "", 1, "never closed"),
    loan("closing-blanks", "---\n\n# L", "--- \n\n# L", "", "", "--- ", "blanks follow"),
    # YAML
    loan("control", "Ask for the device.", "Ask \x07", "", "", "Ask \x07", "U+0007"),
    loan("control", "Ask for the device.", "Ask \u2028", "", "", "Ask \u2028", "U+2028"),
    loan("control", "Ask for the device.", "Ask \ud800", "", "", "Ask \ud800", "U+D800"),
    loan("control", "Ask for the device.", '"Ask \\x07"', "remind", "task", 'task: "Ask', "U+0007"),
    loan("control", "condition:", '"a\\0":', "look_up", "output", "a\\0", "U+0000"),
    loan("syntax", "wait: 15m", "wait: 15m: x", "", "", "15m: x", "Put text with a colon in quotes"),
    loan("syntax", "    wait: 15m", "\twait: 15m", "", "", "\twait", "Indent with spaces"),
    loan("syntax", "[case, cable]", "[case, cable", "", "", "extras:", "Close the bracket"),
    loan("syntax", "name: equ", "name: 'equ", "", "", 2, "Close the quotes"),
    loan("marker", "requires:", "--- x\nrequires:", "", "", "--- x", "one YAML document"),
    loan("marker", "---\nname", "---\n%YAML 1.2\n--- \nname", "", "", "%YAML", "one YAML document"),
    loan("anchor", "due: 4h", "due: &four 4h", "look_up", "due", "due: &", "&four"),
    loan("alias", "due: 4h", "due: *four", "look_up", "due", "due: *", "*four"),
    loan("alias", "    due: 2d", "    *two : 2d", "allow", "", "*two", "*two"),
    loan("tag", "due: 4h", "due: !!str 4h", "look_up", "due", "due: !!str", "!!str"),
    loan("tag", "due: 4h", "due: !<x> {}", "look_up", "due", "due: !", "(x)"),
    loan("deep", "  device: string", "  device: " + "[" * 40 + "]" * 40, "", "", "[[", "32 levels"),
    loan("long", "case, cable", "case, " * MAX_EVENTS + "cable", "", "", "extras", "too many keys and values"),
    loan("duplicate", "requires:", "name: other\nrequires:", "", "name", "name: other", "first on line 2"),
    loan("duplicate", "    due: 2d", "    due: 2d\n    due: 3d", "allow", "due", "due: 3d", "Keep one"),
    loan("duplicate", "  device: string", '  device: string\n  "device": {}', "", "inputs.device", '"device"', "first on line 5"),
    loan("key-not-text", "  device: string", "  1: string", "", "inputs.1", "1: string", "the number 1"),
    loan("key-not-text", "  device: string", "  true: string", "", "inputs.true", "true:", "the truth value true"),
    loan("key-not-text", "  device: string", "  ~: string", "", "inputs.~", "~:", "the null"),
    loan("key-not-text", "  device: string", "  ?\n  : string", "", "inputs.", "  ?", "nothing"),
    loan("key-not-text", "  device: string", "  ? [a]\n  : {b: c}", "", "inputs", "? [a]", "a list"),
    loan("not-finite", "pass: 0.9", "pass: .inf", "look_up", "check[0].pass", "pass: .inf", ".inf is no number"),
    loan("not-finite", "[7, 14, 30.5]", "[.NaN]", "", "inputs.days.one_of[0]", "days:", "finite number"),
    loan("inexact", "30.5", "0.1000000000000000055", "", "inputs.days.one_of[2]", "days:", "0.1000000000000000055"),
    loan("inexact", "30.5", "9007199254740992", "", "inputs.days.one_of[2]", "days:", "9007199254740992"),
    loan("inexact", "30.5", "0x20000000000000", "", "inputs.days.one_of[2]", "days:", "0x20000000000000"),
    loan("inexact", "30.5", "1e400", "", "inputs.days.one_of[2]", "days:", "1e400"),
    loan("inexact", "30.5", "1e-400", "", "inputs.days.one_of[2]", "days:", "1e-400"),
    loan("inexact", "30.5", "1e99999999999999999999", "", "inputs.days.one_of[2]", "days:", "1e9999"),
    loan("inexact", "30.5", "9" * 5000, "", "inputs.days.one_of[2]", "days:", "can't be kept exactly"),
    loan("inexact", "pass: 0.9", "pass: 0.90000000000000000001", "look_up", "check[0].pass", "0.9000", "Shorten it"),
]

OWN_KEYS = [
    loan("not-keys", section("name: equ", "---\n\n# L"), "- name\n", "", "", "- name", "not a list"),
    loan("not-keys", section("name: equ", "---\n\n# L"), "# later\n", "", "", 2, "not nothing"),
    loan("missing", "name: equipment-loan\n", "", "", "", "description:", "name is missing"),
    loan("missing", section("description:", "inputs:"), "", "", "", "name:", "description is missing"),
    loan("unknown-key", "requires:", "require:", "", "require", "require:", "Did you mean requires?"),
    loan("unknown-key", "name: equ", "nmae: equ", "", "nmae", "nmae:", "Did you mean name?"),
    loan("unknown-key", "inputs:", "owner: me\ninputs:", "", "owner", "owner: me", "The keys are name, description"),
    loan("not-text", "description: Lend a", "description: 5 #", "", "description", "description:", "the number 5"),
    loan("not-text", "Lend a", "{a: b} #", "", "description", "description:", "colon needs quotes"),
    loan("blank", "description: Lend a", 'description: " " #', "", "description", "description:", "is blank"),
    loan("name", "equipment-loan", "Equipment_Loan", "", "name", "name:", "like equipment-loan"),
    loan("name", "equipment-loan", "a" * 65, "", "name", "name:", "1 to 64 characters"),
    loan("name", "equipment-loan", '"equipment-loan\\n"', "", "name", "name:", "1 to 64"),
    loan("name", "equipment-loan", "a--b", "", "name", "name:", "like a-b"),
    loan("name", "equipment-loan", "prüfung", "", "name", "name:", "a-z"),
    loan("name", "equipment-loan", "2026", "", "name", "name:", "2026"),
    loan("requires", REQUIRES, "requires: [crm]\n", "", "requires", "requires", "not a list"),
    loan("missing", REQUIRES, "requires: {}\n", "", "requires", "requires", "systems is missing"),
    loan("unknown-key", REQUIRES, "requires: {system: [a], systems: [a]}\n", "", "requires.system", "requires", "systems?"),
    loan("systems", "[asset-register, calendar]", "[]", "", "requires.systems", "systems:", "an empty list"),
    loan("systems", "[asset-register, calendar]", "crm", "", "requires.systems", "systems:", "the text crm"),
    loan("system-name", "calendar", "Calendar", "", "requires.systems[1]", "systems:", "The system Calendar"),
    loan("system-name", "calendar", "5", "", "requires.systems[1]", "systems:", "The system 5"),
    loan("system-twice", "calendar", "asset-register", "", "requires.systems[1]", "systems:", "listed twice"),
    loan("missing", STEPS, "", "", "", "name:", "steps is missing"),
    loan("steps", STEPS, "steps: []\n", "", "steps", "steps:", "an empty list"),
    loan("steps", STEPS, "steps: {a: b}\n", "", "steps", "steps:", "a map"),
]

FIELDS = [
    move("fields", "steps:", "inputs:\nsteps:", "", "inputs", "inputs:", "not nothing"),
    move("fields", "agent: Label the desks.", "agent: Label.\n    output: [label]", "desks", "output", "output:", "output must be a map"),
    loan("field-name", "device: string", '" ": string', "", "inputs. ", '" ": string', "blank"),
    loan("field-shape", "device: string", "device: [string]", "", "inputs.device", "device:", "not a list"),
    loan("field-shape", "device: string", "device:", "", "inputs.device", "device:", "not nothing"),
    loan("field-type", "device: string", "device: strng", "", "inputs.device", "device:", "Did you mean string?"),
    loan("field-type", "device: string", "device: {type: integer}", "", "inputs.device.type", "device:", "number?"),
    loan("field-type", "device: string", "device: {type: 5}", "", "inputs.device.type", "device:", "5 is no type"),
    loan("field-type", "device: string", "device: colour", "", "inputs.device", "device:", "The types are string"),
    loan("field-type", "items: { type: string,", "items: { type: text,", "", "inputs.extras.items.type", "extras:", "string?"),
    loan("missing", "device: string", "device: {optional: true}", "", "inputs.device", "device:", "type is missing"),
    loan("unknown-key", "device: string", "device: {typ: string}", "", "inputs.device.typ", "device:", "mean type?"),
    loan("unknown-key", "device: string", "device: {type: string, min: 3}", "", "inputs.device.min", "device:", "keys type, desc"),
    loan("not-text", "device: string", "device: {type: string, description: 5}", "", "inputs.device.description", "device:", "number 5"),
    loan("not-boolean", "optional: true", "optional: yes", "", "inputs.extras.optional", "extras:", "the text yes"),
    loan("one-of", "[7, 14, 30.5]", "[]", "", "inputs.days.one_of", "days:", "an empty list"),
    loan("one-of", "[7, 14, 30.5]", "{a: 7}", "", "inputs.days.one_of", "days:", "a map"),
    loan("one-of-value", "30.5", '"30"', "", "inputs.days.one_of[2]", "days:", "the text 30, and the field is a number"),
    loan("one-of-value", "30.5", "true", "", "inputs.days.one_of[2]", "days:", "the truth value true"),
    loan("one-of-value", "30.5", "null", "", "inputs.days.one_of[2]", "days:", "nothing"),
    loan("one-of-value", "[case, cable]", "[case, 5]", "", "inputs.extras.items.one_of[1]", "extras:", "Put it in quotes"),
    loan("one-of-value", "device: string", "device: {type: date, one_of: [2026-02-30]}", "", "inputs.device.one_of[0]", "device:", "is a date"),
    loan("one-of-type", "device: string", "device: {type: object, one_of: [a]}", "", "inputs.device.one_of", "device:", "object can't"),
    loan("one-of-type", "device: string", "device: {type: list, one_of: [a]}", "", "inputs.device.one_of", "device:", "under items"),
    loan("items", "device: string", "device: {type: string, items: string}", "", "inputs.device.items", "device:", "of type list"),
]

STEP = [
    loan("step-shape", "  - id: refuse", "  - refuse it\n  - id: refuse", "steps[8]", "", "refuse it", "not the text"),
    bare("missing", ["{wait: 1d}", END], "steps[0]", "", 5, "id is missing"),
    bare("id", ["{id: Start, wait: 1d}", END], "steps[0]", "id", 5, "begin with a small letter"),
    bare("id", ["{id: 5, wait: 1d}", END], "steps[0]", "id", 5, "The id 5"),
    bare("id", [f"{{id: {'s' * 65}, wait: 1d}}", END], "steps[0]", "id", 5, "at most 64"),
    bare("id", ['{id: "start\\n", wait: 1d}', END], "steps[0]", "id", 5, "small letter"),
    bare("id", ["{id: ſtart, wait: 1d}", END], "steps[0]", "id", 5, "small letter a-z"),
    loan("id-twice", "id: hand_over", "id: allow", "allow", "id", 40, "The step on line 33 has the id allow too"),
    loan("no-kind", "    wait: 15m\n", "", "settle", "", "id: settle", "agent, task, approve, wait, wait_until"),
    loan("two-kinds", "    wait: 15m", "    wait: 15m\n    finish: x", "settle", "", "id: settle", "wait and finish"),
    loan("unknown-key", "wait: 15m", "wiat: 15m", "settle", "wiat", "wiat: 15m", "Did you mean wait?"),
    loan("unknown-key", "    wait: 15m", "    wait: 15m\n    note: x", "settle", "note", "note: x", "no key of a step"),
    loan("key-on-kind", "    wait: 15m", "    wait: 15m\n    due: 1d", "settle", "due", "due: 1d", "agent, task and approve"),
    loan("key-on-kind", "    due: 2d", "    timeout: 1d", "allow", "timeout", "timeout: 1d", "this is an approve"),
    loan("key-on-kind", "    due: 4h", "    on_reject: refuse", "look_up", "on_reject", "on_reject:", "only on approve steps"),
    loan("key-on-kind", "    due: 4h", "    person: me", "look_up", "person", "person: me", "task and approve"),
    loan("key-on-kind", "    due: 2d", "    output: {a: string}", "allow", "output", "output: {", "agent and task"),
    loan("key-on-kind", "    due: 2d", "    evidence: [link]", "allow", "evidence", "evidence: [link]", "agent and task"),
    loan("key-on-kind", "    due: 2d", "    check: Is it so?", "allow", "check", "check: Is", "agent and task"),
    loan("key-on-kind", "    due: 2d", "    advisory: true", "allow", "advisory", 37, "agent and task"),
    loan("key-on-kind", "    wait: 15m", "    wait: 15m\n    on_timeout: done", "settle", "on_timeout", "on_timeout: done", "only on wait_for"),
    move("key-on-kind", "    next: inspect", "    next: inspect\n    due: 1d", "pack", "due", "due: 1d", "this is a parallel"),
    loan("finish-next", "finish: refused", "finish: refused\n    next: done", "refuse", "next", "next: done", "goes nowhere"),
    loan("not-text", "task: Ask for the device.", "task: {Note: ask}", "remind", "task", "task: {", "colon needs quotes"),
    loan("not-text", "agent: Find the device", "agent: 12 #", "look_up", "agent", "agent: 12", "the number 12"),
    loan("not-text", "agent: Find the device", "agent: #", "look_up", "agent", "agent: #", "nothing"),
    loan("not-text", "finish: returned", "finish: true", "done", "finish", "finish: true", "the truth value true"),
    loan("blank", "approve: Lend this", 'approve: "\\n " #', "allow", "approve", "approve:", "approve is blank"),
    loan("blank", "finish: returned", 'finish: ""', "done", "finish", 'finish: ""', "finish is blank"),
    loan("blank", "wait_until: inputs.from", 'wait_until: ""', "start", "wait_until", "wait_until", "is blank"),
    loan("person-needed", "    person: stock-keeper\n", "", "hand_over", "", "id: hand_over", "task needs a person"),
    loan("person-needed", "    person: steps.look_up.output.keeper\n", "", "allow", "", "id: allow", "approve needs a person"),
    loan("blank", "person: stock-keeper", "person: ''", "hand_over", "person", "person: ''", "person is blank"),
    loan("not-text", "person: stock-keeper", "person: [a]", "hand_over", "person", "person: [a]", "a list"),
    loan("duration", "wait: 15m", "wait: 15s", "settle", "wait", "wait: 15s", "not 15s"),
    loan("duration", "wait: 15m", "wait: 15", "settle", "wait", "wait: 15", "not 15"),
    loan("duration", "due: 4h", "due: 1h30m", "look_up", "due", "due: 1h", "like 30m, 4h or 2d"),
    loan("duration", "due: 4h", "due: 1234567m", "look_up", "due", "due: 1234567m", "1 to 6 digits"),
    loan("duration", "due: 4h", "due: ٤h", "look_up", "due", "due: ٤h", "whole number"),
    loan("duration", "due: 4h", 'due: "4h\\n"', "look_up", "due", 'due: "4h', "whole number"),
    loan("duration", "timeout: 30d", "timeout: -1d", "returned", "timeout", "timeout: -1d", "not -1d"),
    loan("event", "device-returned", "Device Returned", "returned", "wait_for", "wait_for:", 'The event "Device Returned"'),
    loan("event", "device-returned", "5", "returned", "wait_for", "wait_for:", "The event 5"),
    loan("evidence", "[link, file]", "file", "look_up", "evidence", "evidence:", "evidence must be a list"),
    loan("evidence-kind", "[link, file]", "[link, photo]", "look_up", "evidence[1]", "evidence:", "photo is no kind"),
    loan("evidence-twice", "[link, file]", "[file, file]", "look_up", "evidence[1]", "evidence:", "file is listed twice"),
    loan("check", "pass: 0.9", "pass: 2", "look_up", "check[0].pass", "pass: 2", "pass in question 1: "),
    loan("check", "        fail: 0.25", "        fial: 0.25", "look_up", "check[0].fial", "fial", "fial in question 1: "),
    loan("check", "        levels:", "        one_of: {a: A, b: B}\n        levels:", "look_up", "check[1]", "- ask: How", "question 2: "),
    loan("check", CHECK, "    check: []\n", "look_up", "check", "check: []", "check: "),
    loan("check-needed", CHECK, "", "look_up", "advisory", "advisory:", "only beside check"),
    loan("not-boolean", "advisory: true", "advisory: on", "look_up", "advisory", "advisory:", "the text on"),
    loan("timeout-needed", "    timeout: 30d\n", "", "returned", "on_timeout", "on_timeout:", "there is no timeout"),
]

ROUTES = [
    loan("target", "on_reject: look_up", "on_reject: [look_up]", "allow", "on_reject", "on_reject:", "not a list"),
    loan("target", "    next: settle\n  - id: settle", "    next: {to: settle}\n  - id: settle", "remind", "next", "next: {", "not a map"),
    loan("target", "      - refuse\n", "      - refuse\n      - to: null\n", "look_up", "next[2].to", "to: null", "to must be the id"),
    loan("routes-kind", "    due: 2d", "    next: [start, refuse]", "allow", "next", "next: [", "Only agent and task"),
    loan("routes-few", "    next: settle\n  - id: settle", "    next: [settle]\n  - id: settle", "remind", "next", "next: [settle]", "two or more"),
    loan("routes-twice", "      - refuse\n", "      - refuse\n      - to: refuse\n", "look_up", "next[2]", "- to:", "refuse is listed twice"),
    loan("route", "      - refuse\n", "      - refuse\n      - [done]\n", "look_up", "next[2]", "- [done]", "not a list"),
    loan("missing", "      - refuse\n", "      - refuse\n      - when: never\n", "look_up", "next[2]", "- when", "to is missing"),
    loan("unknown-key", "      - refuse\n", "      - { to: refuse, whn: no }\n", "look_up", "next[1].whn", "whn", "mean when?"),
    loan("blank", "      - refuse\n", "      - { to: refuse, when: ' ' }\n", "look_up", "next[1].when", "when: ' '", "when is blank"),
    loan("not-text", "      - refuse\n", "      - { to: refuse, when: 5 }\n", "look_up", "next[1].when", "when: 5", "Say when in words"),
    loan("no-step", "      - refuse\n", "      - refused\n      - refuse\n", "look_up", "next[1]", "- refused", "Did you mean refuse?"),
    loan("no-step", "{ to: allow,", "{ to: alow,", "look_up", "next[0].to", "to: alow", "Did you mean allow?"),
    loan("no-step", "on_reject: look_up", "on_reject: lookup", "allow", "on_reject", "on_reject:", "Did you mean look_up?"),
    loan("no-step", "on_timeout: remind", "on_timeout: remnd", "returned", "on_timeout", "on_timeout:", "Did you mean remind?"),
    loan("no-step", "on_reject: look_up", "on_reject: xyz", "allow", "on_reject", "on_reject:", "The steps are look_up, allow"),
    bare("no-step", ["{id: a, wait: 1d, next: END}", END], "a", "next", 5, "Did you mean end?"),
    move("no-step", "[archive, kitchen, desks]", "[archive, kitchen, desk]", "pack", "parallel[2]", "parallel:", "mean desks?"),
    # references
    loan("path-shape", "stock-keeper", "steps.look_up.keeper", "hand_over", "person", "up.keeper", "is no path"),
    loan("path-shape", "stock-keeper", "me@example.org", "hand_over", "person", "me@", "inputs.<field>"),
    loan("path-shape", "stock-keeper", "inputs.", "hand_over", "person", "person: inputs.", "is no path"),
    loan("path-shape", "wait_until: inputs.from", "wait_until: from", "start", "wait_until", "wait_until:", "from is no path"),
    loan("path-step", "steps.look_up.output.keeper", "steps.lookup.output.keeper", "allow", "person", "lookup.", "mean look_up?"),
    loan("path-field", "stock-keeper", "inputs.borower", "hand_over", "person", "borower", "Did you mean inputs.borrower?"),
    loan("path-field", "stock-keeper", "inputs.xyz", "hand_over", "person", "inputs.xyz", "Of type person there is inputs.borrower"),
    loan("path-field", "stock-keeper", "steps.hand_over.output.xyz", "hand_over", "person", "output.xyz", "Declare it under steps.hand_over"),
    loan("path-field", "stock-keeper", "steps.returned.output.by", "hand_over", "person", "output.by", "Only agent and task steps"),
    loan("path-type", "stock-keeper", "inputs.device", "hand_over", "person", "person: inputs.device", "person needs a person"),
    loan("path-type", "inputs.from", "inputs.days", "start", "wait_until", "wait_until:", "wait_until needs a datetime"),
]

GRAPH = [
    loan("last-next", "    finish: refused", "    wait: 1d", "refuse", "", "id: refuse", "no following step"),
    loan("unreachable", "      - refuse\n", "      - done\n", "refuse", "", "id: refuse", "No way leads here"),
    bare("unreachable", ["{id: a, wait: 1d, next: end}", "{id: b, wait: 1d}", END], "b", "", 6, "Name b in a next"),
    loan("cycle", "      - refuse\n", "      - refuse\n      - look_up\n", "look_up", "next[2]", "- look_up", "look_up → look_up"),
    bare("cycle", ["{id: a, wait: 1d}", "{id: b, agent: B, next: [a, end]}", END], "b", "next[0]", 6, "a → b → a"),
    bare("cycle", ["{id: a, wait: 1d, next: c}", "{id: b, wait: 1d, next: end}", "{id: c, agent: C, next: [a, b]}", END], "c", "next[0]", 7, "a → c → a"),
    bare(
        "cycle",
        ["{id: a, wait: 1d}", "{id: b, wait_for: e, timeout: 1d, on_timeout: a, next: end}", END],
        "b", "on_timeout", 6, "Only on_reject goes back",
    ),
    bare(
        "cycle",
        [*(f"{{id: s{n}, wait: 1d}}" for n in range(20)), "{id: t, agent: T, next: [s0, end]}", END],
        "t", "next[0]", 25, "s0 → s1 → s2 → s3 → … → s18 → s19 → t → s0",
    ),
]

BRANCHES = [
    bare("parallel", ["{id: p, parallel: [b], next: end}", "{id: b, wait: 1d, next: join}", END], "p", "parallel", 5, "a list of one"),
    bare("parallel", ["{id: p, parallel: end, next: end}", END], "p", "parallel", 5, "not the text end"),
    move("entry", "kitchen, desks]", "kitchen, desks, 5]", "pack", "parallel[3]", "parallel:", "not the number 5"),
    move("entry-twice", "kitchen, desks]", "kitchen, desks, archive]", "pack", "parallel[3]", "parallel:", "archive begins two"),
    move("id-join", "  - id: open", "  - id: join\n    wait: 1d\n  - id: open", "join", "id", "id: join", "reserved"),
    move("join-outside", "    on_reject: pack\n", "    on_reject: pack\n    next: join\n", "inspect", "next", 37, "no step"),
    move("join-outside", "    on_reject: pack\n", "    on_reject: join\n", "inspect", "on_reject", "on_reject: join", "no step"),
    move("join-outside", "kitchen, desks]", "kitchen, desks, join]", "pack", "parallel[3]", "parallel:", "ends a branch"),
    bare("join-outside", ["{id: a, agent: A, next: [end, join]}", END], "a", "next[1]", 5, "Only next and on_timeout"),
    move("branch-next", "    wait: 1h\n    next: join\n", "    wait: 1h\n", "desks_more", "", "id: desks_more", "next: join"),
    move("branch-shared", "[desks_more, join]", "[desks_more, kitchen_call, join]", "desks", "next[1]", "next: [", "branch of kitchen already"),
    move("branch-shared", "[desks_more, join]", "[desks_more, archive, join]", "desks", "next[1]", "next: [", "branch of archive already"),
    move("branch-finish", "[desks_more, join]", "[desks_more, open, join]", "desks", "next[1]", "next: [", "open is a finish"),
    move("branch-finish", "kitchen, desks]", "kitchen, desks, open]", "pack", "parallel[3]", "parallel:", "another step"),
    move("branch-out", "[desks_more, join]", "[desks_more, inspect, join]", "desks", "next[1]", "next: [", "outside the branch of desks"),
    move("branch-into", "    agent: Tell everybody the date.\n", "    agent: Tell.\n    next: [pack, desks_more]\n", "announce", "next[1]", "next: [pack", "Name pack instead"),
    move("branch-into", "    agent: Tell everybody the date.\n", "    agent: Tell.\n    next: [pack, desks]\n", "announce", "next[1]", "next: [pack", "in the branch of desks"),
    bare(
        "branch-into",
        ["{id: a, agent: A, next: [p, z]}", "{id: p, parallel: [b, c], next: end}", "{id: c, wait: 1d, next: join}",
         "{id: z, wait: 1h}", "{id: b, wait: 1d, next: join}", END],
        "z", "", 8, "goes on there by itself: give it a next, like p",
    ),
    move("reject-out", "    on_reject: archive\n", "    on_reject: announce\n", "archive_seal", "on_reject", "on_reject: announce", "stays in that branch"),
    move("reject-out", "    on_reject: archive\n", "    on_reject: kitchen\n", "archive_seal", "on_reject", "on_reject: kitchen", "outside the branch of archive"),
    move("reject-out", "    on_reject: archive\n", "    on_reject: pack\n", "archive_seal", "on_reject", "on_reject: pack", "outside the branch"),
    move("reject-out", "    on_reject: archive\n", "    on_reject: join\n", "archive_seal", "on_reject", "on_reject: join", "outside the branch"),
    move("reject-into", "    on_reject: pack\n", "    on_reject: desks\n", "inspect", "on_reject", "on_reject: desks", "reject to pack or to a step before"),
    bare(
        "branch-parallel",
        ["{id: p, parallel: [b, c], next: end}", "{id: b, agent: B, next: [p, join]}", "{id: c, wait: 1d, next: join}", END],
        "b", "next[0]", 6, "neither holds nor goes to",
    ),
    bare(
        "branch-parallel",
        ["{id: p, parallel: [b, q], next: end}", "{id: b, wait: 1d, next: join}", "{id: q, parallel: [c, d], next: end}",
         "{id: c, wait: 1d, next: join}", "{id: d, wait: 1d, next: join}", END],
        "p", "parallel[1]", 5, "Begin the branch with another step",
    ),
    bare(
        "branch-shared",
        ["{id: p, parallel: [b, c], next: q}", "{id: b, wait: 1d, next: join}", "{id: c, wait: 1d, next: join}",
         "{id: q, parallel: [c, d], next: end}", "{id: d, wait: 1d, next: join}", END],
        "q", "parallel[0]", 8, "c under p already",
    ),
]
# fmt: on


def fact(rule, entry, key, says):
    """A fact on the step that has a boolean, a person and a text (`condition`)."""
    text = f"    facts:\n      - {entry}\n"
    at = "facts:" if key == "facts" else entry
    return loan(rule, "    due: 4h\n", "    due: 4h\n" + text, "look_up", key, at, says)


VALUE = "value: output.condition"
FACTED = LOAN.replace(
    "    due: 4h\n", f"    due: 4h\n    facts:\n      - {{type: equals, {VALUE}, expected: x}}\n"
)
FACTS = [
    loan(
        "fact",
        "    due: 4h\n",
        "    due: 4h\n    facts: []\n",
        "look_up",
        "facts",
        "facts: []",
        "a list of one or more",
    ),
    loan("key-on-kind", "    due: 2d", "    facts: []", "allow", "facts", "facts: []", "agent and task"),
    fact("fact", "once", "facts[0]", "A fact is a map"),
    fact("fact", f"{{type: guess, {VALUE}}}", "facts[0]", "type is not one of equals"),
    fact("fact", "{type: regex, expected: x}", "facts[0]", "value must name a field"),
    fact("fact", "{type: regex, value: condition, expected: x}", "facts[0]", "like value: output.total"),
    fact("fact", f"{{type: regex, {VALUE}}}", "facts[0]", "expected: missing"),
    fact("fact", f"{{type: regex, {VALUE}, expected: '(?=x)'}}", "facts[0]", "expected: "),
    fact(
        "fact",
        f"{{type: regex, {VALUE}, expected: x, Flags: i}}",
        "facts[0]",
        "Flags: not known here; known are expected, type, value",
    ),
    fact(
        "fact",
        f"{{type: url_contains, {VALUE}, url: 'https://a.example/', text: x}}",
        "facts[0]",
        "value stands for url",
    ),
    fact(
        "fact",
        f"{{type: onchain, chain: base, kind: tx_confirmed, tx: x, {VALUE}}}",
        "facts[0]",
        "value stands for tx",
    ),
    fact(
        "fact", f"{{type: onchain, chain: base, kind: foo, {VALUE}}}", "facts[0]", "kind: not one of tx_con"
    ),
    fact("fact", f"{{type: url_contains, {VALUE}}}", "facts[0]", "for text where url is"),
    fact(
        "fact",
        f"{{type: url_contains, {VALUE}, url: 'https://127.0.0.1/'}}",
        "facts[0].url",
        "Name a public https address",
    ),
    fact(
        "fact",
        f"{{type: onchain, chain: base, kind: token_balance_at_least, {VALUE}, address: '0xabc'}}",
        "facts[0].address",
        "0x and 40 hexadecimal digits",
    ),
    fact(
        "path-type",
        "{type: numeric, value: output.free, expected: 1}",
        "facts[0].value",
        "numeric needs a string or number",
    ),
    fact(
        "path-type",
        "{type: equals, value: output.free, expected: 1}",
        "facts[0].value",
        "equals needs a string or number",
    ),
    fact(
        "path-field",
        "{type: regex, value: output.conditon, expected: x}",
        "facts[0].value",
        "Did you mean output.condition?",
    ),
    fact(
        "path-type",
        "{type: url_contains, value: output.free, text: x}",
        "facts[0].value",
        "url needs a string",
    ),
    Row(
        "fact-optional",
        "condition: { type: string,",
        "condition: { type: string, optional: true,",
        "look_up",
        "facts[0].value",
        "- {type: equals",
        "Take optional away",
        base=FACTED,
    ),
    loan(
        "fact",
        "    due: 4h\n",
        "    due: 4h\n    facts:\n" + 4 * f"      - {{type: url_contains, {VALUE}, text: x}}\n",
        "look_up",
        "facts",
        "facts:",
        "4 of type url_contains; at most 3",
    ),
    loan(
        "fact",
        "    due: 4h\n",
        "    due: 4h\n    facts:\n" + 21 * f"      - {{type: equals, {VALUE}, expected: x}}\n",
        "look_up",
        "facts",
        "facts:",
        "holds 21 facts; at most 20",
    ),
]

ROWS = [*FACTS, *FILE, *OWN_KEYS, *FIELDS, *STEP, *ROUTES, *GRAPH, *BRANCHES]
