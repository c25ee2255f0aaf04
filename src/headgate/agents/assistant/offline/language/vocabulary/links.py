"""How clauses hang together: order, conditions, alternatives, comparison, aggregation. Sense to phrases, English then Swedish."""

LINKS = {
    "l.then": (
        "then, and then, after that, afterwards, next, subsequently, thereafter, followed by, and afterwards, and next, when done,"
        " when that's done, when that is done, once done, once that's done, after which, and after that, secondly,"
        " thirdly, first of all, firstly, to start, to begin with, having done that, from there, from that, out of that, with that,"
        " once you have that, once you have them, lastly, now",
        "sedan, och sedan, därefter, efter det, därpå, och därefter, först",
    ),
    "l.join": (
        "finally, in the end, either way, in any case, regardless, at the end, in both cases, whatever the outcome, to finish,"
        " last of all, and finally, and lastly, in either case, whichever it is, at last, to wrap up, no matter which, and in the end",
        "till slut, slutligen, till sist, oavsett, i båda fallen, i vilket fall som helst, avslutningsvis",
    ),
    "l.also": (
        "also, and also, plus, as well as, in addition, additionally, moreover, besides, along with, together with, on top of that,"
        " as well, too, and likewise, furthermore, at the same time, in parallel, meanwhile, separately, and separately",
        "också, även, dessutom, samt, såväl som, och även, samtidigt, parallellt",
    ),
    "l.else": (
        "otherwise, else, or else, if not, if it doesn't, if it does not, if it isn't, if it is not, if there aren't, if there are none,"
        " if there isn't, if none, if no, failing that, in other cases, in all other cases, in any other case, for anything else,"
        " for everything else, everything else, anything else, for all others, for the rest, for others, if they don't, if they aren't,"
        " if that is not the case, if that's not the case, all others, in the opposite case, or if not, and if not, but if not,"
        " if it is something else, for any other, when it is not, when it isn't, when it doesn't, by default, as a fallback, if it hasn't,"
        " if nothing, in case not, if otherwise, default, if nothing is found, the rest, in every other case, any other, and otherwise,"
        " but otherwise, if it's not, when not, any others, if there is none, or otherwise",
        "annars, i annat fall, om inte det, om det inte gör det, i övriga fall, för alla andra, övriga",
    ),
    "l.so": (
        "if so, if it does, if it is, if yes, if they do, if there are, if there is, in that case, if that is the case, if it has,"
        " if true, if that's the case, when it does, when it is, when so, if they are, if any",
        "i så fall, om ja, om så är fallet",
    ),
    "l.elseif": ("else if, otherwise if, elif, but if, otherwise when, else when", "annars om, eller om"),
    "l.if": (
        "if, in case, provided, provided that, as long as, assuming, in the event that, on condition that, only if, suppose, should,"
        " in the event, if ever, given that, in case of",
        "om, ifall, förutsatt att, i fall",
    ),
    "l.when": ("when, whenever, as soon as, every time, each time", "när, närhelst, så snart"),
    "l.unless": (
        "unless, except when, except if, if not already, except where, but not if, but not when",
        "om inte, såvida inte, utom om",
    ),
    "l.depending": (
        "depending on, depending upon, based on, according to, by looking at, subject to, as a function of, dependent on, route by,"
        " route it by, switch on, branch on, in function of, varies by",
        "beroende på, utifrån, baserat på, enligt",
    ),
    "l.before": (
        "before, prior to, ahead of, in front of, right before, just before, upstream of, before it",
        "innan, före, precis innan, framför",
    ),
    "l.after": (
        "after, following, behind, right after, just after, downstream of, once",
        "efter, precis efter, efter att, bakom",
    ),
    "l.between": ("between, in between, in the middle of", "mellan, emellan"),
    "l.and": ("and, &, n, as well as, plus, along with, together with, but also", "och, samt"),
    "l.or": ("or", "eller"),
    "l.but": ("but, yet, however, though", "men, dock"),
    "l.that": (
        "that, which, who, whose, where",
        "som, vars, där, vilka",
    ),
    "l.whether": ("whether, whether or not, if or not", "huruvida"),
    "l.instead": (
        "instead, rather, instead of, rather than, in place of, not",
        "istället, i stället, istället för, i stället för, hellre",
    ),
}

PREPOSITIONS = {
    "p.by": (
        "by, per, for each, for every, in each, under each, of each, within each, across, each, every,"
        " by each, for each of the, on, for the different, over the different, with the same, according to, based on,"
        " in every, from each",
        "per, efter, för varje, i varje, grupperat på, efter varje, utifrån, på, sorterat på, grupperade efter, uppdelat på, av varje",
    ),
    "p.per": (
        "per, for each, for every, in each, under each, of each, within each, across, for each of the,"
        " in every, by each, each, from each, for the different, for all the different, every, by",
        "per, för varje, i varje, grupperat på, grupperade efter, uppdelat på, av varje",
    ),
    "p.sorted": (
        "by, on, according to, in order of, in terms of, based on, measured by, with regard to, when it comes to, judged by, with respect to",
        "efter, på, i fråga om",
    ),
    "p.with": ("with, using, by, through, via, having, by means of", "med, genom, via, av"),
    "p.into": (
        "into, in, to, as, onto, on, under, inside, within, at, called, named, for, in the form of, titled, out to, down in, out as",
        "i, till, som, in i, på, till en, under, kallad, vid namn",
    ),
    "p.at": (
        "at, on, by, into, every, after, after every, along, around, using, in, with, to, at every, at each, on every, on each, per, as",
        "vid, på, i, med, efter, var, varje, till",
    ),
    "p.from": (
        "from, in, of, out of, inside, within, on, off, from within, throughout, contained in, found in, at, over, across, for, among, that are in,"
        " appearing in, present in, occurring in, mentioned in, based on, from inside",
        "från, ur, i, av, på, inom, ifrån, bland",
    ),
    "p.of": ("of, in, for, among, from, out of, inside, within", "av, i, på, för, bland, ur"),
    "p.for": (
        "for, in case of, if it is, if it's, when it is, when it's, if, when, with, in case it is, case",
        "för, vid, om det är, när det är",
    ),
    "p.to": ("to, at, towards, toward, into, on, via, over to", "till, på, åt, mot"),
    "p.as": ("as, into, to, in, like, be, equal to, equals", "som, till, vara, i"),
}

COMPARISONS = {
    "c.contains": (
        "contain, include, mention, have the word, has the word, have the text, talk about, talk of, speak of, refer to, containing, including,"
        " mentioning, with the word, with the text, have the phrase, with, features, feature, carry, is about, are about, about, with the term,"
        " matching the word, with the phrase, reference, where there is, bring up, use the word, uses the word, in which the word, contains the word,"
        " contain the word, mentions the word, include the word, includes the word, containing the word, mentioning the word, contains the text,"
        " containing the text, contain the text, contains the phrase, has the phrase, with the words, contain the phrase, contain the words, have,"
        " contain the term, contains the term, tagged with, marked with, which mention, writes, wrote, says, said, asks for, asks about, types, typed in",
        "innehåller, innehålla, nämner, nämna, innehåller ordet, med ordet, som innehåller, omnämner, har ordet, handlar om, innehållande, har, med",
    ),
    "c.is": (
        "is, are, equals, equal, equal to, is equal to, equals to, =, ==, be, was, were, is exactly, is the same as, matches exactly, is set to,"
        " are equal to, corresponds to, is just, being, amounts to, is simply, has the value, with value, is called, are called, is named,"
        " licensed under, under, set to",
        "är, lika med, är lika med, har värdet, motsvarar, är exakt",
    ),
    "c.over": (
        "over, above, more than, greater than, larger than, bigger than, exceed, exceeding, higher than, >, is over, beyond, heavier than, in excess of,"
        " older than, longer than, upwards of, more expensive than, greater, bigger, higher, surpass, go over, goes over, go above, costlier than,"
        " taller than, newer than, later than, richer than",
        "över, mer än, större än, högre än, fler än, överstiger, längre än, äldre än, >",
    ),
    "c.under": (
        "under, below, less than, fewer than, smaller than, lower than, shorter than, <, is under, beneath, lighter than, younger than, cheaper than, less,"
        " fewer, smaller, lower, shorter, go below, goes below, falls below, fall below, short of, stay under, earlier than",
        "under, mindre än, färre än, lägre än, kortare än, understiger, yngre än, <",
    ),
    "c.least": (
        "at least, no less than, >=, ≥, not less than, minimum of, a minimum of, not under, not below, no fewer than, or more, or above, or over, or higher, or greater, and up, and above, or longer, not fewer than,"
        " greater than or equal to, more than or equal to, reaches",
        "minst, åtminstone, från och med, inte mindre än",
    ),
    "c.most": (
        "at most, no more than, <=, ≤, not more than, maximum of, a maximum of, not exceeding, less than or equal to, or less, or lower,"
        " or fewer, or below, or under",
        "högst, som mest, inte mer än",
    ),
    "c.starts": (
        "start with, begin with, starting with, beginning with, starts with, begins with, prefixed with, prefixed by, starting on, start on, that start with",
        "börjar med, börja med, inleds med, som börjar med, startar med",
    ),
    "c.ends": (
        "end with, ending with, end in, ending in, ends with, finishing with, finish with, ends in, suffixed with, finish in, end on",
        "slutar med, sluta med, slutar på, som slutar med",
    ),
    "c.matches": (
        "match, matching, match the pattern, matches the pattern, matching the pattern, fits the pattern, look like, matching the regex, match the regex",
        "matchar, matcha, matchar mönstret",
    ),
    "c.empty": (
        "empty, blank, missing, no, are no, is no, not there, absent, not given, not filled in, left blank, left empty, unset, null, nothing, not set, unknown, lacking, lack, not present,"
        " have no, has no, without, with no, contain no, contains no, contain nothing, contains nothing, not found, nonexistent, unfilled, having no,"
        " do not have, does not have, don't have, doesn't have, not provided, not specified, don't list, doesn't list, came back empty, turns up empty",
        "tom, tomt, tomma, saknas, saknar, blank, utan, inte ifylld, har ingen, har inget, saknar en",
    ),
    "c.occurs": (
        "occur, appear, show up, come up, pop up, is found, is in there, is mentioned, are mentioned, is somewhere, turn up, is used",
        "förekommer, nämns, dyker upp",
    ),
    "c.between": ("between, in the range, in between, is between, ranges from, lies between", "mellan"),
    "c.filled": (
        "not empty, non-empty, nonempty, present, given, filled in, filled, not blank, not missing, provided, specified",
        "inte tom, inte tomt, ifylld, ifyllt, finns, angiven, finns med",
    ),
    "c.not": (
        "not, n't, don't, doesn't, isn't, aren't, do not, does not, is not, are not, never, no longer, without, except, other than, cannot, won't, didn't, wasn't,"
        " rather than, hasn't, haven't, does n't, excluding, but not",
        "inte, ej, aldrig, förutom, utom, icke",
    ),
    "c.differs": (
        "differ from, different from, other than, !=, ≠, is not, are not, isn't, aren't, not equal to, does not equal, anything but, differs from, unequal to",
        "skiljer sig från, inte är, är inte, annat än",
    ),
}

AGGREGATES = {
    "a.count": (
        "number of, count of, how many, total number of, amount of, quantity of, no. of, count, how many of, counts of, headcount,"
        " volume of, frequency of, tally of, total count, total count of, overall number of, tally, total amount of, how often, how many times, occurrences of, occurrence of,"
        " number of times, number of occurrences of, occurrence of, frequency, occurrence count, how frequently",
        "antal, antalet, hur många, antal av, förekomster av, hur ofta, förekomster, antalet av, hur många gånger",
    ),
    "a.sum": (
        "sum of, total, sum, total of, totals, sum total of, overall, combined, sums of, sums, altogether, aggregate, in total, total sum, total value of,"
        " cumulative, grand total of, grand total, total amount of, how much in total, summed",
        "summa, summan, summan av, totalt, total, totala, sammanlagd, sammanlagda, totalsumma",
    ),
    "a.avg": (
        "average, mean, avg, average of, mean of, on average, averages, average value of, typical, arithmetic mean, average amount of",
        "genomsnitt, genomsnittlig, genomsnittligt, genomsnittliga, medel, medelvärde, medelvärdet, snitt, snittet, i snitt, i genomsnitt",
    ),
    "a.min": (
        "minimum, lowest, min, minimum of, smallest value of, lowest value of, minimal, smallest value, lowest value, cheapest, least",
        "lägsta, minsta, minimum, min",
    ),
    "a.max": (
        "maximum, highest, max, maximum of, largest value of, highest value of, maximal, largest value, highest value, peak, greatest, top value of",
        "högsta, maximum, max, största värdet",
    ),
    "a.median": (
        "median, median of, percentile, standard deviation, variance, correlation",
        "median, medianen, standardavvikelse",
    ),
}

ORDERS = {
    "o.most": (
        "biggest, largest, heaviest, greatest, highest, top, longest, most, most expensive, bulkiest, fattest, hugest, best, newest, latest, most recent, oldest first,"
        " priciest, max, maximum, costliest, richest, tallest, strongest, busiest, top ranking, leading, chunkiest, largest ones, biggest ones, best paid, best selling, best-selling",
        "största, tyngsta, längsta, högsta, dyraste, mesta, flesta, nyaste, bästa, mest",
    ),
    "o.least": (
        "smallest, lightest, lowest, shortest, least, cheapest, fewest, tiniest, bottom, worst, oldest, earliest, minimum, least expensive, poorest, weakest, thinnest, slimmest, youngest",
        "minsta, lättaste, kortaste, lägsta, billigaste, minst, äldsta, sämsta",
    ),
    "o.frequent": (
        "most frequent, most common, commonest, most used, most popular, most often, frequent, most occurring, most repeated, most frequently used, most frequently, top used,"
        " most frequently occurring, most commonly used, most mentioned, common, most widespread, most often used, appear most often, occur most often, appears most often, most prevalent,"
        " that occur most, occur most, appear most, show up most, most typical, prevalent, most numerous",
        "vanligaste, mest förekommande, mest använda, oftast, mest frekventa",
    ),
    "o.rare": (
        "least frequent, least common, rarest, least used, least often, least popular, rare",
        "ovanligaste, minst förekommande, mest sällsynta",
    ),
    "o.desc": (
        "descending, desc, largest first, biggest first, highest first, in descending order, most first, from high to low, high to low, decreasing, z-a, z to a, newest first, from largest to smallest,"
        " from biggest to smallest, heaviest first, big to small, large to small, longest first, highest to lowest, largest to smallest, most common first, most frequent first, top first, biggest on top,"
        " biggest at the top, largest on top, largest at the top, decreasing order, in decreasing order, latest first, in reverse order, reverse order, from z to a, most expensive first, most at the top,"
        " most on top, reverse alphabetical, reverse alphabetically, with the largest first, with the biggest first, with the most first, highest on top, with the highest first, from most to least, most to least,"
        " greatest first, biggest to smallest, the most first, having the most first, on top, at the top, on the top, on top of the list",
        "fallande, störst först, högst först, i fallande ordning, flest först, fallande ordning, från störst till minst, tyngst först, nyast först, största först",
    ),
    "o.asc": (
        "ascending, asc, smallest first, lowest first, in ascending order, from low to high, low to high, increasing, a-z, a to z, alphabetically, alphabetical, alphabetic, in alphabetical order,"
        " oldest first, from smallest to largest, lightest first, small to large, shortest first, lowest to highest, smallest to largest, by alphabet, alphabetical order, least first, increasing order,"
        " in increasing order, ascending order, in order, earliest first, from a to z, cheapest first, by name alphabetically, rising, small to big, fewest first, from least to most, abc order",
        "stigande, minst först, lägst först, alfabetiskt, i bokstavsordning, bokstavsordning, i stigande ordning, i alfabetisk ordning, a-ö, äldst först",
    ),
    "o.first": (
        "first, top, leading, initial, opening, head, upper, up to, only the first, limit, limited to, limit to, max, at most, just the first, maximum, no more than, starting",
        "första, de första, inledande, översta, topp, högst, max",
    ),
    "o.last": (
        "last, final, trailing, closing, bottom, tail, ending, most recent, just the last, only the last",
        "sista, de sista, avslutande, senaste",
    ),
}

UNSUPPORTED = {
    "x.mail": (
        "send an email, send a mail, send email, email it to, email the, mail it to, mail the, e-mail it, e-mail the, send an e-mail, by email, via email, email me, mail me, send me an email, email them to,"
        " email this, forward by mail, per email, email us, email it, mail it, send it by email, an email to, over email, email everyone, gmail, outlook, e-mail me, inbox",
        "mejla, skicka ett mejl, maila, skicka mail, via mejl, skicka e-post, mejla det",
    ),
    "x.chat": (
        "slack, discord, telegram, whatsapp, microsoft teams, ms teams, sms, text message, slack channel, teams channel, our teams, signal group, twitter, linkedin, facebook, instagram",
        "sms, slack-kanal",
    ),
    "x.schedule": (
        "every day, every morning, every night, every week, every monday, every tuesday, every wednesday, every thursday, every friday, every saturday, every sunday, every hour, each morning, every evening,"
        " each day, each monday, every month, daily, weekly, hourly, nightly, monthly, on a schedule, schedule it, cron, at midnight, once a day, once a week, every weekday, at noon, each week, every year,"
        " at 8, at 9, each night, every afternoon, on mondays, on weekdays, every 5 minutes, every minute, every few minutes, each hour, on fridays, schedule, scheduled",
        "varje dag, varje morgon, varje vecka, varje måndag, dagligen, varje timme, varje månad, schemalagt, varje natt",
    ),
    "x.chart": (
        "chart, graph, plot, pie chart, bar chart, diagram, histogram, line chart, visualise, visualisation, heat map, scatter plot, graphs",
        "diagram, graf, stapeldiagram, cirkeldiagram, visualisera",
    ),
    "x.image": (
        "picture, photo, ocr, draw, image recognition, screenshot, image of, resize the image, generate an image, photograph, logo, video, images, pictures, photos",
        "bild, foto, rita, skärmdump",
    ),
    "x.audio": (
        "audio, speech, transcribe, voice, podcast, text to speech, read aloud, recording, mp3, speak",
        "ljud, tal till text, transkribera, inspelning",
    ),
    "x.database": (
        "postgres, mysql, mongodb, sql server, our database, redis, snowflake, bigquery, oracle database, from the database, in the database, to the database, into the database, a database",
        "databas, databasen",
    ),
    "x.cloud": (
        "google drive, google sheet, google sheets, sharepoint, dropbox, onedrive, s3 bucket, notion, airtable, jira, trello, salesforce, hubspot, github issue, google docs, google calendar, calendar, crm, zendesk, confluence",
        "kalender",
    ),
    "x.login": (
        "log in to, login to, sign in to, behind a login, captcha, click the button, click on, fill in the form on",
        "logga in på, klicka på",
    ),
    "x.train": (
        "train a model, fine-tune, fine tune, neural network, machine learning, deep learning, embeddings, vector store, predict, forecast, train, rag, vector database, regression, prediction",
        "träna, maskininlärning, förutsäg",
    ),
    "x.shell": (
        "shell command, run a command, bash script, powershell, delete files on, install the package, pip install, ssh, docker, kubernetes, deploy",
        "installera",
    ),
}
