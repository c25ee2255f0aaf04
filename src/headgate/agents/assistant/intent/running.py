"""Recognises requests to run a flow by keywords, in English and some Swedish: a fallback after the model."""

import re

_ONLY_RUN = re.compile(
    r"^\W*(?:(?:please|now|ok|okay|then|just|go ahead and|can you|could you|would you|will you|i want you to|kan du|"
    r"nu|snälla)\W+)*(?:run|execute|kör)\b(?!\s+(?:time|into|out|away))(?:\W+(?:it|this|that|the|my|our|flow|workflow|"
    r"den|det|flödet|again|now|with|and)\b|\W*$)",
    re.IGNORECASE,
)
_AND_RUN = re.compile(
    r"\b(?:and|then|afterwards|finally|och|sedan)\W+(?:\w+\W+){0,2}?(?:run|execute|test|kör|testa)\b\W+"
    r"(?:it|this|that|them|the\W+(?:\w+\W+)?(?:flow|workflow|result)|den|det|flödet)\b",
    re.IGNORECASE,
)


def asks_to_run(text: str) -> bool:
    """Whether a request is to run the flow, rather than a question about running."""
    return _ONLY_RUN.search(text) is not None


def asks_to_run_after(text: str) -> bool:
    """Whether the request is to change something and then run the flow."""
    return _AND_RUN.search(text) is not None
