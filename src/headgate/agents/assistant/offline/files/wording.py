"""How requests about files are worded, in English and Swedish: patterns over the text as it was written.

What a file is to say must stay as it was written, so these requests are not cut into tokens. In a pattern a space
stands for any space, and a name in braces for the fragment of that name.
"""

import re

_FRAGMENTS = {
    "please": (
        r"(?:(?:please|kindly|hi|hey|hello|hej|ok|okay|(?:can|could|would|will) you|kan du|skulle du kunna|snälla|"
        r"vänligen|i want (?:you )?to|i'd like (?:you )?to|jag vill|now|just|nu|"
        r"oops|whoops|oj|hoppsan|sorry|förlåt|no|nej)[\s,!.:]+)*"
    ),
    "end": r"(?:[\s,]*\b(?:please|thanks|thank you|tack|snälla|now|nu|for me|to me|aloud|åt mig|för mig))*[\s.!?]*",
    "quoted": (
        r"(?:\"[^\"]*\"|“[^”]*”|”[^”]*”|«[^»]*»|`[^`]*`|'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)"
        r"|[‘’](?:[^’]|(?<=\w)’(?=\w))*’(?!\w))"
    ),
    "write": (
        r"(?:write|create|make|generate|save|add|jot|draft|new|ny|skriv|skapa|gör|generera|spara)"
        r"(?: up| down| ihop| ner)?"
    ),
    "a": (
        r"(?:(?:me|mig|us|a|an|the|my|one|new|small|short|little|plain|text|markdown|md|en|ett|den|det|min|mitt|ny|"
        r"nytt|liten|litet|kort)\s+)*"
    ),
    "file": (
        r"(?:(?:text|markdown|md|note)?[\s-]?files?|documents?|docs?|notes?|readme|documentation|description|"
        r"(?:text|markdown)?-?fil(?:en)?|dokument(?:et)?|anteckning(?:en)?|dokumentation(?:en)?|beskrivning(?:en)?)"
    ),
    "called": r"(?:called|named|with the name|som heter|kallad|vid namn|med namnet)",
    "path": r"(?P<path>{quoted}|(?:[^\s\"'“”‘’`«»,;:]|:(?=[\\/]))*\w)",
    "place": r"(?:{a}(?P<file>{file}) (?:{called} )?|(?:the|my|filen|den) )?{path}",
    "says": r"(?:saying|that says|which says|that reads|that should say|där det står|som säger|som lyder)",
    "with": (
        r"(?:containing|that contains|which contains|som innehåller|innehållande|reading|"
        r"(?:with|med)(?: (?:the|this))?(?: (?:text|contents?|words|line|message|texten|innehållet|orden|raden))?)"
    ),
    "flow": (
        r"(?:(?:this|the|my|our|current|present|det|detta|den|här|mitt|vårt)\s+)*"
        r"(?:flow|workflow|pipeline|flöde|flödet|arbetsflöde|arbetsflödet)"
    ),
    "about": (
        r"(?:(?:that|which|som|to) )?(?:document(?:s|ing)?|describ(?:e|es|ing)|explain(?:s|ing)?|about|of|for|on|"
        r"dokumenterar|beskriver|förklarar|om|av|för|över)"
    ),
    "files": r"(?:files?|documents?|notes|filer|filerna|dokument|dokumenten|anteckningar)",
    "workspace": r"(?:workspace|arbetsyta|arbetsytan)",
    "mine": (
        r"(?:(?:any of|some of|all of|all|alla|någon av|bland)\s+)?(?:(?:my|mina|the|de)\s+)?"
        r"(?:{files}(?: (?:in|of|i) (?:(?:my|the|min) )?{workspace})?|(?:min )?{workspace})"
    ),
    "find": r"(?:search for|look for|look up|grep for|sök efter|leta efter|leta upp|find|search|grep|hitta|sök)",
    "has": r"(?:contains?|mentions?|ha(?:ve|s)|says?|innehåller|nämner|har)",
    "stands": r"(?:is|are|do|does|finns|står|nämns)",
    "replace": r"(?:replace|substitute|swap|ersätt|byt ut|byt)",
    "change": r"(?:change|ändra)",
    "by": r"(?:with|by|for|mot|med|till)",
    "every": r"(?P<every>(?:all|every|each|alla|varje) )?(?:(?:the )?(?:word|text) |ordet |texten )?",
    "everywhere": r"(?P<everywhere> everywhere| överallt)?",
    "in": r"(?:in|i|inside)",
    "show": r"(?:show|open|display|print|read|cat|view|visa|öppna|läs|läs upp|skriv ut)(?: me| mig)?",
    "list": r"(?:(?:(?:give|show) me )?(?:a|the) list of|show|list|display|see|visa|lista|se)(?: me| mig)?",
    "kind": r"(?:(?P<kind>markdown|text|python|\.?(?:md|txt|csv|json|html|ya?ml|log|py))[\s-]*)?",
}
_NAME = re.compile(r"\{([a-z]+)\}")


def pattern(text: str) -> re.Pattern[str]:
    """A whole request, such as `{please}read {place}{end}`."""
    while _NAME.search(text):
        text = _NAME.sub(lambda name: _FRAGMENTS[name[1]], text)
    return re.compile(r"\s*" + text.replace(" ", r"\s+"), re.IGNORECASE | re.DOTALL)


def unquoted(text: str) -> str:
    """What stands between the quotation marks; the text itself where there are none."""
    text = text.strip()
    return text[1:-1] if is_quoted(text) else text


def is_quoted(text: str) -> bool:
    """Whether all of a text stands between quotation marks."""
    return _QUOTED.fullmatch(text) is not None


_QUOTED = pattern("{quoted}")
