"""Measures how easy a text is to read."""

import re

from headgate.sdk import NOT_TAKEN, Component, ComponentError, Data, NotTaken, Text, field, output

LONG_WORD = 7
"""The readability index LIX counts words with more than six letters as long."""


class Readability(Component):
    """Measures how easy a text is to read with the index LIX, for English, Swedish and similar languages."""

    label = "Readability"
    category = "text"
    icon = "book-open-check"
    keywords = ("lix", "plain language", "sentence length", "readable")

    text: str = field(label="Text", help="The text to measure.", main=True, tool_mode=True)
    limit: float = field(
        default=50.0,
        label="Limit",
        help="A text above it takes the branch 'hard'. 30 is easy, 60 is hard.",
        ge=0,
        le=150,
    )

    @output(help="Object with words, sentences, long_words and lix.")
    def measures(self) -> Data:
        """The counts and the index, rounded to one decimal."""
        words = re.findall(r"[^\W\d_]+", self.text)
        if not words:
            raise ComponentError("The text has no words.", remedy="Connect a text to 'text'.", field="text")
        sentences = max(1, len(re.findall(r"[.!?:]+(?=\s|$)", self.text)))
        long_words = sum(len(word) >= LONG_WORD for word in words)
        lix = len(words) / sentences + 100 * long_words / len(words)
        return {"words": len(words), "sentences": sentences, "long_words": long_words, "lix": round(lix, 1)}

    @output(help="The text, when it is harder to read than the limit.", branch=True)
    def hard(self) -> Text | NotTaken:
        """The branch for texts above the limit."""
        measures = self.measures()
        return self.text if isinstance(measures, dict) and float(str(measures["lix"])) > self.limit else NOT_TAKEN

    @output(help="The text, when it is not.", branch=True)
    def easy(self) -> Text | NotTaken:
        """The other branch."""
        return self.text if self.hard() is NOT_TAKEN else NOT_TAKEN
