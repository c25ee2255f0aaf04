"""Words that carry no step of their own: articles, pronouns, helpers, courtesies, and words for the flow itself."""

LIGHT = {
    "d.det": (
        "a, an, the, all, every, each, any, some, this, that, these, those, my, our, your, their, its, his, her, such, whatever, several,"
        " both, other, no, entire, whole, same, various, certain, respective, own, given, single, another, following, said, complete, full, overall, existing,"
        " actual, very, teh, th, hte, individual, different, separate, new, specific, particular, matching, resulting, corresponding, relevant, available,"
        " extracted, found, sorted, filtered, remaining, uploaded, attached, enclosed, provided, submitted, incoming, installed, original, first-ever, aforementioned, main, collected, final, little, small, nice, simple, short, quick",
        "en, ett, den, det, de, alla, varje, min, mitt, mina, vår, vårt, våra, din, ditt, dina, dess, deras, denna, detta, dessa, hela, samma, någon, något, några, ny, nytt, nya, all, allt, uppladdade, uppladdad, bifogade, installerade",
    ),
    "d.pronoun": (
        "i, you, we, me, us, it, they, them, he, she, one, ones, someone, somebody, anyone, anybody, everyone, people, user, users, who, what, which, there, here, whoever,"
        " something, anything, everything, nothing, myself, yourself, that, itself, themselves, person",
        "jag, du, vi, mig, oss, det, de, dem, man, någon, användaren, användare, där, här, vilka, vilken, vilket, vad, som, sig",
    ),
    "d.helper": (
        "is, are, was, were, be, been, being, am, do, does, did, done, has, have, had, having, can, could, will, would, shall, should, may, might, must, gets, got, get, getting,"
        " let, lets, want, wants, need, needs, like, i'd, i'm, i've, it's, that's, there's, we've, we'd, i'll, we'll, you're, they're, let's, who's, where's, it'll, ought, used, going, go, goes,"
        " come, comes, coming, make, makes, making, made, build, create, set up, give, gives, put, use, uses, using, try, take, takes, happen, happens, exist, exists, occur, occurs, appear, appears,"
        " belong, belongs, mean, means, end, ends, start, starts, become, becomes, know, wonder, able, what's, here's, contain, contains, how's, wanna, gonna, gotta, found, find, see, think, say, called, named,"
        " supposed, want to, remain, remains, stay, stays, left, provide, provides, fill, fills, filled, type, types, typed, paste, pastes, pasted, enter, enters, entered, write, writes, upload, uploads, attach, attaches, send in, hand in, submit, submits, comes in,"
        " supply, supplies, hand, hands, hope, look, looks, help, helps, prepare, construct, design, assemble, develop, craft, set, work, works, runs, run, do, include, includes, included, follow, follows, arrive, arrives",
        "är, var, vara, har, ha, hade, kan, kunde, ska, skall, skulle, vill, bli, blir, gör, göra, gjort, får, få, måste, behöver, finns, finnas, bygg, skapa, använd, laddar, laddat, upp, skriver, klistrar, matar, heter, hjälpa",
    ),
    "d.preposition": (
        "of, in, on, at, to, from, by, with, for, into, onto, as, about, over, under, per, via, through, within, out, up, down, off, between, among, inside, than, like, against, around, upon,"
        " without, during, across, along, back, together, away, concerning, regarding, according, apart, except, plus, toward, towards, behind, after, before, until, till, while, since",
        "av, i, på, från, till, med, för, om, ur, efter, vid, åt, hos, under, över, mellan, utan, per, ut, in, ner, ned, genom, mot, bland, fram, ihop, isär, bort, kring",
    ),
    "d.connector": (
        "and, or, but, so, then, also, because, since, though, if, when, while, where, that, which, whether, plus, either, neither, nor, not, n't, don't, doesn't, isn't, else, too, yet, however, once, as",
        "och, eller, men, så, sedan, också, även, att, när, om, medan, eftersom, samt, inte, både",
    ),
    "d.adverb": (
        "just, only, really, simply, basically, actually, quickly, easily, please, now, right, there, here, well, ok, okay, alright, maybe, perhaps, probably, possibly, kind, sort of, kind of, kinda, very,"
        " quite, exactly, directly, immediately, automatically, again, first, finally, still, even, already, together, once, always, ever, much, many, more, most, lot, lots, bit, how, why, where, nicely,"
        " neatly, properly, carefully, straight, straightaway, away, currently, completely, entirely, totally, somehow, anyway, too, yet, instead, else, rather, soon, later, respectively, separately, overall, altogether,"
        " in order, so, all in all, as such, at all, each time, as well, of course, for me, for us, in total, at once, right away, in there, by itself, somewhere,"
        " roughly, approximately, about, almost, around, literally, honestly, fully, cleanly, one by one, wherever, however, back, up, out, apart, ready, readable, handy, exact,"
        " useful, possible, necessary, needed, important, good, great, fine-grained, human, easy, clean, tidy, pretty, neat, proper, beautiful, curious, grateful, interested, simply put, say, i guess, i think, you know, that sort of thing, ish, long, big, large, huge, massive, giant",
        "bara, endast, gärna, snälla, tack, nu, sen, direkt, enkelt, helt, ganska, mycket, hur, varför, tillsammans, igen, först, fint, snyggt, alltså, kanske, ju, väl",
    ),
    "d.courtesy": (
        "please, pls, plz, kindly, thanks, thank you, thanks a lot, many thanks, thank you very much, cheers, hi, hello, hey, hey there, hi there, good morning, good afternoon, dear, sorry, excuse me, if possible,"
        " if you can, if you don't mind, if you could, when you have a moment, thx, ty, appreciated, much appreciated, would be great, would be nice, would be lovely, would you mind, i would appreciate, regards, best regards, hiya, yo,"
        " no rush, asap, mate, team, folks, guys, buddy, thanks in advance, in advance, that would be great, that would be awesome, awesome, cool, perfect, greetings, i would be grateful for, i'd be grateful for, i was wondering, wondering,"
        " so basically, ok so, right so, basically, could you, can you, would you, will you, would you be so kind, be so kind, be able, would it be possible, is it possible, possible to, i'd love, would love, love, i'd love to, i would love to, i would like, i'd like, i want you to,"
        " would like, fancy, hope you can, for my boss, for the team, for my colleague, for everyone, for a colleague, this time, as usual, as follows, the following, like this, like so, as below, my boss wants, my manager wants, the boss wants,"
        " for later, for later use, for future reference, for the record, for reference, for my records, for our records, so i can read it, so i can see it, so we can see it, so that i can see it, so i can see, to read, to look at, to me, to us, at the end of the day, whole lot, all over, lying around, if any, if there are any",
        "snälla, tack, hej, hallå, tack på förhand, kan du, skulle du kunna, vänligen, tack så mycket, är du snäll, jag vill, jag skulle vilja, jag behöver, vi behöver, vi vill, jag vill ha, åt mig, till mig",
    ),
    "d.flow": (
        "flow, workflow, pipeline, automation, process, job, bot, tool, script, routine, app, application, thing, stuff, something, program, programme, procedure, macro, utility, service, agent, assistant, system, solution, task, step, steps, node, nodes, canvas,"
        " headgate, machine, computer, here, environment, python environment, on this machine, on my machine, on this computer, on the server, in here, right here, in this environment, my environment, our environment, in python, python, project, virtual environment, venv, way, manner, form of, sort, kind,"
        " part, bit, setup, set-up, visibility, exposure, case, cases, time, times, occurrence, occurrences, instance, instances, moment, purpose, example, place, point, order, name, copy, version of it, heading, title, collection, set, group, series, contents, content, data, info, information, details, detail,"
        " items, item, entries, entry, element, thing, value, values, field, fields, column, columns, property, attribute, key, keys, section, format, style, shape, side, top of it, everyone, sight, bottom, one, screen, result, results, output, outputs, outcome, box, gui, user interface, builder, offline builder",
        "flöde, flödet, arbetsflöde, pipeline, automation, något, steg, nod, noder, sak, grej, dator, datorn, maskin, maskinen, här, miljö, miljön, exempel, innehåll, innehållet, uppgifter",
    ),
}

QUESTION_WORDS = {
    "q.what": (
        "what, which, what's, whats, what are, what is, vad, vilka, vilken, vilket",
        "vad, vilka, vilken, vilket",
    ),
    "q.how": ("how, how do i, how can i, how does, how to, how is", "hur"),
    "q.can": (
        "can you, could you, are you able, do you, does it, is it possible, is there, are there, do we have, have you",
        "kan du, finns det",
    ),
    "q.yesno": ("does, do, is, are, has, have, did, was, were, can, will", "är, har, finns, innehåller"),
}

NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100, "thousand": 1000, "dozen": 12, "couple": 2,
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

SWEDISH_MARKERS = frozenset(
    "och att det som med en ett sedan den på till är av för inte jag du min mitt mina alla från ur annars eller när hur vad visa räkna hämta"
    " spara läs kör skriv sortera ta bort lägg filen texten raderna rader ord orden visar kan gör om vilka antal antalet vänta hitta dela listan lista".split()
)
SWEDISH_ONLY = frozenset(
    "och att som med sedan på är för jag alla från ur annars eller när hur vad visa räkna hämta spara läs kör sortera lägg filen texten raderna"
    " orden vilka antal antalet vänta hitta".split()
)
