"""Words for amounts: numbers, times, sizes and signs."""

from headgate.features.catalog.words import word_set

NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "thousand": 1000, "dozen": 12, "couple": 2, "once": 1, "twice": 2, "thrice": 3,
    "half": 0.5, "single": 1, "pair": 2, "en": 1, "ett": 1, "två": 2, "tre": 3, "fyra": 4, "fem": 5, "sex": 6, "sju": 7, "åtta": 8,
    "nio": 9, "tio": 10, "tjugo": 20, "femton": 15, "tolv": 12, "trettio": 30, "femtio": 50, "hundra": 100, "tusen": 1000,
}  # fmt: skip

TIME_UNITS = {
    "ms": 0.001, "millisecond": 0.001, "milliseconds": 0.001, "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "min": 60,
    "mins": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600, "sekund": 1, "sekunder": 1,
    "minut": 60, "minuter": 60, "timme": 3600, "timmar": 3600,
}  # fmt: skip

SIZE_UNITS = {
    "byte": 1, "bytes": 1, "b": 1, "kb": 1000, "kilobyte": 1000, "kilobytes": 1000, "mb": 1_000_000, "megabyte": 1_000_000,
    "megabytes": 1_000_000, "meg": 1_000_000, "megs": 1_000_000, "gb": 1_000_000_000, "gigabyte": 1_000_000_000, "gigabytes": 1_000_000_000,
    "mib": 1_048_576, "kib": 1024, "k": 1000, "thousand": 1000, "million": 1_000_000, "m": 1_000_000, "tusen": 1000, "miljoner": 1_000_000,
}  # fmt: skip

SEPARATORS = {
    "comma": ",", "commas": ",", "semicolon": ";", "semicolons": ";", "colon": ":", "colons": ":", "space": " ", "spaces": " ", "tab": "\t",
    "tabs": "\t", "pipe": "|", "pipes": "|", "slash": "/", "slashes": "/", "dash": "-", "dashes": "-", "hyphen": "-", "hyphens": "-",
    "newline": "\n", "newlines": "\n", "line break": "\n", "line breaks": "\n", "linebreak": "\n", "linebreaks": "\n", "blank line": "\n\n",
    "empty line": "\n\n", "blank lines": "\n\n", "empty lines": "\n\n", "period": ".", "periods": ".", "full stop": ".", "dot": ".", "dots": ".",
    "ampersand": "&", "underscore": "_", "underscores": "_", "asterisk": "*", "star": "*", "plus sign": "+", "equals sign": "=", "hash": "#",
    "komma": ",", "kommatecken": ",", "semikolon": ";", "mellanslag": " ", "blanksteg": " ", "tabb": "\t", "radbrytning": "\n", "bindestreck": "-",
    "punkt": ".", "snedstreck": "/", "nothing": "", "arrow": " -> ", "horizontal rule": "\n\n---\n\n", "horizontal line": "\n\n---\n\n",
    "rule": "\n\n---\n\n", "line": "\n", "new line": "\n", "new lines": "\n", "tomrad": "\n\n", "single newline": "\n", "single line break": "\n",
    "comma and a space": ", ", "comma and space": ", ", "bar": "|", "vertical bar": "|", "exclamation marks": "!", "question marks": "?",
}  # fmt: skip

SWEDISH_MARKERS = word_set(
    "och att det som med en ett sedan den på till är av för inte jag du min mitt mina alla från ur annars "
    "eller när hur vad visa räkna hämta spara läs kör skriv sortera ta bort lägg filen texten raderna rader "
    "ord orden visar kan gör om vilka antal antalet vänta hitta dela listan lista"
)
SWEDISH_ONLY = word_set(
    "och att som med sedan på är för jag alla från ur annars eller när hur vad visa räkna hämta spara läs kör "
    "sortera lägg filen texten raderna orden vilka antal antalet vänta hitta"
)
