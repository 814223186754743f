"""Where the sentences of a line of prose end, in any script. Pure; the abbreviations are English."""

import re
from collections.abc import Iterator


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# a stop, what closes after it, a blank, and whatever opens the next sentence; stops of other scripts need no blank
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++(?=[\"'“‘(\[¿¡]*[^\W_])|[。！？｡؟۔।॥።]++[\"'”’」』）)\]]*+\s*+"
)
_OWN_STOP = re.compile(r"[。！？｡؟۔।॥።]")
_CLOSED = re.compile(r"[.!?…][\"'”’)\]]+\s+$")
_LAST = re.compile(r"[\"'“‘(\[]*([\w.]*\w)\.[\"'”’)\]]*\s+$")
_LAST_CHARS = 40  # enough for any abbreviation; a word without end is none
_OPENS = re.compile(r"[\"'“‘(\[¿¡]*(\w+)")
_OPENS_CHARS = 40
_DOTTED = re.compile(r"(?:\w\.)+\w")  # e.g, u.s, z.b
# a full stop after these ends no sentence …
_TITLES = _set(
    "mr mrs ms dr prof st no nr nos fig figs eq sec ch vol pp p cf vs approx ca dept est e.g i.e al gen col lt sgt rev hon art "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
# … after these only where a word follows that opens one …
_COMPANIES = _set("inc ltd co corp etc jr sr u.s u.k e.u a.m p.m plc gmbh")
# … and after these only where the next word has a capital
_SHORTENED = _set(
    "temp pt pts min max avg incl excl misc tel ext ed eds vols esp viz resp dist ave blvd rd mt ft capt cmdr maj gov sen rep "
    "pres univ assn bros assoc hosp intl natl govt mfg mgr acct amt qty ref para paras cont hr hrs sq lb lbs oz"
)
_OPENERS = _set(
    "the a an it its he she they we this that these those there in on at by from for however but and so all both each no "
    "nothing one two after before since when while as if his her their our"
)


def sentences(paragraph: str) -> Iterator[str]:
    """The sentences of one line of prose, questions and all."""
    start = 0
    for match in _END.finditer(paragraph):
        if _ends(paragraph, start, match):
            yield paragraph[start : match.end()].strip()
            start = match.end()
    if rest := paragraph[start:].strip():
        yield rest


def _ends(paragraph: str, start: int, match: re.Match[str]) -> bool:
    """Whether a stop with a word after it is the end of a sentence."""
    end = match.end()
    if _OWN_STOP.match(match.group()):
        return True
    opens = _OPENS.match(paragraph[end : end + _OPENS_CHARS])
    follows = opens[1] if opens is not None else ""
    small = follows[:1].islower()  # a script without capitals has no small letters, either
    if small and (_CLOSED.match(match.group()) or match.group().startswith(("…", ".."))):
        return False  # "Why?" he asked … and went on
    found = _LAST.search(paragraph[max(start, end - _LAST_CHARS) : end])
    if found is None:
        return True
    return _stops(found[1].lower(), follows, small=small) and not _counts(paragraph[start:end])


def _stops(word: str, follows: str, *, small: bool) -> bool:
    """Whether a full stop after this word can end a sentence."""
    if word in _TITLES or (len(word) == 1 and word.isalpha()):  # an initial
        return False
    if word in _COMPANIES:
        return not small and follows.lower() in _OPENERS
    return not (small and (word in _SHORTENED or _DOTTED.fullmatch(word)))


def _counts(text: str) -> bool:
    """`1.`: a number that counts an item within a line."""
    bare = text.strip()
    word = bare[:-1]
    return word.isdigit() and len(word) < 3  # noqa: PLR2004 - a year or a sum counts nothing
