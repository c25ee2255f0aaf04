"""Words as people write them, brought to the forms a dictionary lists.

No stemmer: importing the packaged one takes 135 ms and a word 24 us, a whole start-up budget, and it joins words that
mean different things here. What is needed is smaller: which dictionary forms a written word can come from.
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def word_set(text: str) -> frozenset[str]:
    """A set of words written as one text."""
    return frozenset(text.split())


# (ending, what may stand in its place), in the order the answers are tried
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
def base_forms(word: str) -> tuple[str, ...]:
    """The dictionary forms a lower-case word can come from, the word itself first: `copied` gives copied, copy."""
    found = [word, _IRREGULAR[word]] if word in _IRREGULAR else [word]
    if len(word) > _LONGEST_WORD:
        return (word,)
    for ending, replacements in _ENGLISH:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_ROOT - 1 and not word.endswith(("ss", "us")):
            root = word[: -len(ending)]
            found += [root + new for new in replacements if len(root + new) >= _SHORTEST_ROOT - 1]
            if ending in {"ing", "ed"} and len(root) > _SHORTEST_ROOT and root[-1] == root[-2]:
                found.append(root[:-1])
    for british, american in _SPELLINGS:
        found += [form[: -len(british)] + american for form in found if form.endswith(british)]
    return tuple(dict.fromkeys(found))


def words(text: str) -> list[str]:
    """The words of a text in lower case; `InstalledPackages` and `size_bytes` count as two words each."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]
