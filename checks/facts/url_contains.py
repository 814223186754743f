"""`url_contains {url, text | pattern}`: a public https page holds a text, or a pattern is found in it.

The text is searched in what the server sent (200 only), decoded by the character set that it names, markup and all.
At most 1,000,000 bytes are read; where there is more, the detail says so, and no pattern takes the last of them for the
page's end.

`evidence_hash`: of the body's bytes as they were searched: unpacked, at most the first 1,000,000.
"""

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from checks.facts.addresses import MAX_URL_CHARS, AddressError
from checks.facts.addresses import read as read_address
from checks.facts.fetch import Fetcher, FetchError, Page
from checks.facts.regex import read_pattern, search, told
from checks.facts.shapes import Entry, Outcome, exact, hash_of

MAX_TEXT_CHARS = 1000
MAX_WORK = 40_000_000  # see checks.facts.regex; pages are few
_CHARSET = re.compile(r"charset\s*=\s*\"?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
# what pages are written in; Python knows others that run code tables nobody means here
_CHARSETS = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|iso-8859-\d{1,2}|windows-125\d|shift_jis|euc-jp|euc-kr|big5|gbk|gb2312|gb18030|koi8-[ru]",
    re.IGNORECASE,
)
_OK, _SERVER_ERROR = 200, 500
_BUSY = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlContains:
    type: ClassVar[str] = "url_contains"
    network: ClassVar[bool] = True
    url: str
    text: str | None
    pattern: Any
    source: str
    fetcher: Fetcher = field(default_factory=Fetcher)

    @classmethod
    def read(cls, entry: Entry) -> Self:
        url = entry.text("url", most=MAX_URL_CHARS)
        text = entry.text("text", most=MAX_TEXT_CHARS, needed=False)
        pattern, source = read_pattern(entry, "pattern", needed=False)
        if ("text" in entry.raw) is ("pattern" in entry.raw):
            entry.refuse("text", "give either text or pattern")
        return cls(url=url or "", text=text, pattern=pattern, source=source)

    @classmethod
    def fills(cls, raw: Mapping[str, Any]) -> tuple[str, ...]:
        return ("url",) if {"text", "pattern"} & raw.keys() else ("text",)

    def takes(self, filled: str) -> frozenset[str]:
        return frozenset({"string"})

    def never(self, filled: str) -> tuple[str, str] | None:
        if filled == "url":
            return None
        try:
            read_address(self.url)
        except AddressError as error:
            return "url", f"the address {error}. Name a public https address"
        return None

    def wanted(self, filled: str) -> str:
        if filled == "text":
            return f"must stand on the page {exact(self.url)}"
        if self.text is not None:
            return f"must be the address of a page that holds the text “{exact(self.text)}”"
        return f"must be the address of a page that matches the pattern “{exact(self.source)}”"

    def check(self, text: str) -> Outcome:
        try:
            page = self.fetcher.get(self.url)
        except FetchError as error:
            return Outcome(
                passed=False, detail=error.message, evidence_hash=None, unreachable=not error.refused
            )
        if page.status != _OK:
            return Outcome(
                passed=False,
                detail=f"The server answered {page.status} instead of 200.",
                evidence_hash=None,
                unreachable=page.status >= _SERVER_ERROR or page.status in _BUSY,
            )
        body = decoded(page)
        if self.text is not None:
            found, what, rest = self.text in body, f"The text “{exact(self.text)}”", ""
        else:
            at, reach = search(self.pattern, body, MAX_WORK, cut=page.cut)
            found, what, rest = (
                at is not None,
                f"The pattern “{exact(self.source)}”",
                told(at, reach, body),
            )
        where = (
            "on the page" if not page.cut else f"in the page's first {len(page.body):,} bytes; it is longer"
        )
        return Outcome(
            passed=found,
            detail=f"{what} is {'' if found else 'not '}{where}{rest}.",
            evidence_hash=hash_of(page.body),
        )


def decoded(page: Page) -> str:
    """Of a page that was cut, without the character that the cut went through."""
    named = _CHARSET.search(page.content_type)
    charset = named[1] if named and _CHARSETS.fullmatch(named[1]) else "utf-8"
    try:
        decoder = codecs.getincrementaldecoder(charset)
    except LookupError:
        decoder = codecs.getincrementaldecoder("utf-8")
    return decoder("replace").decode(page.body, final=not page.cut)
