"""Normalises words to their dictionary forms.

No stemmer: importing the packaged one takes 135 ms and a word 24 us, an entire start-up budget, and it conflates words
with different meanings here. Only the possible dictionary forms of a word are needed.
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def word_set(text: str) -> frozenset[str]:
    """Return a set of words written as one text."""
    return frozenset(text.split())


# (ending, replacement), in the order in which they are tried
_ENGLISH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("'s", ("",)),
    ("’s", ("",)),
    ("ies", ("y", "ie")),
    ("ied", ("y",)),
    ("sses", ("ss",)),
    ("ches", ("ch", "che")),
    ("shes", ("sh",)),
    ("xes", ("x",)),
    ("ses", ("se", "s")),
    ("zes", ("ze", "z")),
    ("oes", ("o", "oe")),
    ("s", ("",)),
    ("ing", ("", "e")),
    ("ed", ("", "e")),
)
_SPELLINGS = (
    ("isation", "ization"),
    ("ising", "izing"),
    ("ised", "ized"),
    ("ise", "ize"),
    ("yse", "yze"),
    ("our", "or"),
)
_IRREGULAR = dict(
    pair.split(":")
    for pair in word_set(
        "written:write wrote:write sent:send built:build kept:keep shown:show told:tell said:say taken:take "
        "took:take given:give gave:give chosen:choose held:hold hidden:hide gotten:get got:get broken:break "
        "drawn:draw men:man people:person children:child indices:index criteria:criterion fetched:fetch "
        "replied:reply ran:run"
    )
)
_SHORTEST_ROOT = 3
_LONGEST_WORD = 48


@lru_cache(maxsize=8192)
def base_forms(term: str) -> tuple[str, ...]:
    """The possible dictionary forms of a lower-case word, the word itself first: `copied` returns copied, copy."""
    forms = [term, _IRREGULAR[term]] if term in _IRREGULAR else [term]
    if len(term) > _LONGEST_WORD:
        return (term,)
    for ending, replacements in _ENGLISH:
        if term.endswith(ending) and len(term) - len(ending) >= _SHORTEST_ROOT - 1 and not term.endswith(("ss", "us")):
            root = term[: -len(ending)]
            forms += [root + new for new in replacements if len(root + new) >= _SHORTEST_ROOT - 1]
            if ending in {"ing", "ed"} and len(root) > _SHORTEST_ROOT and root[-1] == root[-2]:
                forms.append(root[:-1])
    for british, american in _SPELLINGS:
        forms += [form[: -len(british)] + american for form in forms if form.endswith(british)]
    return tuple(dict.fromkeys(forms))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `InstalledPackages` and `size_bytes` count as two words each."""
    return [term.lower() for term in _WORD.findall(_CAMEL.sub(" ", text))]
