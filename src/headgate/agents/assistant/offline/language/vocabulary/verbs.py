"""What people call the things a flow does: sense to comma-separated phrases, English then Swedish."""

VERBS = {
    "v.take": (
        "take, get, grab, read, open, load, import, ingest, retrieve, obtain, pull, receive, accept, use, process, handle,"
        " go through, look at, look through, look in, look into, look over, scan, walk through, start with, start from,"
        " begin with, begin from, consider, bring, access, inspect, examine, analyse, go over, read in, pull in, run through,"
        " loop over, work on, work with, feed in, check out, gather up, fetch me, given, based on the contents of",
        "ta, tar, läs, läser, läs in, öppna, ladda, importera, använd, bearbeta, gå igenom, utgå från, ta emot, titta på",
    ),
    "v.fetch": (
        "fetch, download, scrape, crawl, visit, browse, curl, wget, pull down, surf to, request, call the api, hit, navigate to",
        "hämta, ladda ner, ladda ned, besök, hämtar",
    ),
    "v.list": (
        "list, want, need, find out, find me, show me a list of, have a list of, give, gimme, love to see, know, see, report",
        "lista, räkna upp, vill ha, behöver, ge",
    ),
    "v.show": (
        "show, display, print, output, present, tell, return, reveal, view, let me see, give me, echo, render, show off,"
        " log to the screen, let me know, hand back, give back, send back, hand me, put on screen",
        "visa, skriv ut, presentera, redovisa, berätta, returnera, visar",
    ),
    "v.extract": (
        "extract, pick, find, locate, spot, search, search for, look for, detect, identify, isolate, harvest, mine, capture,"
        " grep, hunt for, fish out, dig out, single out, collect, gather, pick up, pull out, take out, get out,"
        " scan for, regex out, look up, pick out, parse out, lift out, fetch out, hunt down, weed for, get hold of, discover",
        "extrahera, plocka, plocka ut, plocka fram, hitta, sök, sök efter, leta efter, leta upp, ta ut, samla, samla in",
    ),
    "v.keep": (
        "keep, retain, filter, filter for, filter on, only keep, leave only, narrow down to, narrow to, restrict to, limit to,"
        " hold on to, include, show only, keep only, just keep, stick to, whittle down to, filter down to, reduce to",
        "behåll, filtrera, filtrera på, spara bara, ta bara med, begränsa till",
    ),
    "v.drop": (
        "drop, remove, delete, exclude, discard, skip, ignore, omit, leave out, throw away, throw out, get rid of, filter out,"
        " strip, strip out, strip off, cut out, eliminate, take away, erase, weed out, toss, toss out, clear out, kick out, lose,"
        " clean out, clean up",
        "ta bort, radera, uteslut, hoppa över, släng, rensa, rensa bort, filtrera bort, kasta",
    ),
    "v.count": (
        "count, tally, count up, tot up the number of, tally up",
        "räkna, räknar, räknas, räkna ihop, räkna antalet, räkna antal",
    ),
    "v.sum": ("sum, sum up, add up, total, total up, add together, tot up, add", "summera, lägg ihop, addera"),
    "v.avg": ("average, average out, take the mean of", "snitta, beräkna snittet av"),
    "v.group": (
        "group, break down, break out, bucket, aggregate, pivot, cluster, bundle up, organise, categorise by",
        "gruppera, dela upp per, fördela",
    ),
    "v.sort": (
        "sort, order, rank, arrange, alphabetise, sequence, reorder, put in order",
        "sortera, ordna, rangordna, sorterat, sorterade, ordnat, ordnade",
    ),
    "v.dedupe": (
        "dedupe, deduplicate, de-dupe, de-duplicate, uniq, unique, uniquify, remove duplicates, drop duplicates,"
        " get rid of duplicates, remove any duplicates, remove repeats, without duplicates, no duplicates, without repeats,"
        " without repetition, without doubles, remove doubles, distinct, duplicates removed, weed out duplicates,"
        " skip duplicates, no repeats, strip duplicates, filter out duplicates, ignore duplicates, eliminate duplicates,"
        " each only once, only once, exclude duplicates, with duplicates removed, duplicate free",
        "ta bort dubbletter, rensa dubbletter, utan dubbletter, unika, unik, inga dubbletter, avdubblera",
    ),
    "v.split": (
        "split, break, break up, cut, cut up, divide, chop, chop up, separate, tokenise, explode, chunk, segment, slice,"
        " split up, divide up, carve up, partition",
        "dela, dela upp, splitta, stycka, klyv, bryt upp, dela in",
    ),
    "v.replace": (
        "replace, substitute, swap, swap out, exchange, find and replace, switch out",
        "ersätt, byt ut, byt, ersätta",
    ),
    "v.mask": (
        "mask, redact, hide, anonymise, censor, black out, obscure, blank out, scrub, pseudonymise, blur, star out, cover up,"
        " cross out, conceal, obfuscate, bleep out, de-identify",
        "maska, dölj, anonymisera, censurera, maskera",
    ),
    "v.join": (
        "join, concatenate, glue, string together, glue together, concat, stitch together, stick together, implode, chain together,"
        " paste together",
        "sammanfoga, foga ihop, klistra ihop, konkatenera",
    ),
    "v.combine": (
        "combine, merge, put together, bring together, unite, assemble, compile, consolidate, wrap up, fold together, bundle,"
        " mix together, unify, blend, place together, roll up, collate, join up, pull together, stack, lump together",
        "kombinera, slå ihop, slå samman, sätt ihop, sammanställ, lägg samman, förena",
    ),
    "v.number": ("number, enumerate, put numbers on, add numbers to, put a number before, number off", "numrera"),
    "v.bullet": (
        "bullet, put bullets, put a dash before, put a dash in front of, itemise, put a bullet in front of, bulletise",
        "punkta",
    ),
    "v.say": (
        "say, name, reply, answer, respond, write, tell me, tell us, tell them, tell the user, state, announce, comment, note,"
        " mark it as, mark it, mark as, mark, flag it as, label it, label it as, put down, reply with, answer with, respond with,"
        " say that, write that, tell me that, output the text, return the text, just say, print out, call it, classify it as, tag it,"
        " tag it as, type, warn, warn that, warn me, come back with, set it to, set the result to, say the words",
        "säg, svara, svara med, skriv, meddela, märk, säg att, varna, flagga",
    ),
    "v.save": (
        "save, store, export, dump, record, archive, persist, save out, write out, write down, write up, stash, spit out,"
        " deposit, file, save down, keep a record of, keep a copy of, write to disk, save to disk, write to file, log, park, write,"
        " deliver, produce, put, stick, drop, place, pop, chuck, shove, tuck, output, redirect, pipe, throw, spool",
        "spara, lagra, exportera, arkivera, spara ner, spara ned, sparas, skriv till, lägg, skriv",
    ),
    "v.send": (
        "send, post, push, submit, forward, notify, ping, transmit, deliver, hand over, put, call, trigger, pass on, relay, upload",
        "skicka, posta, skicka vidare, anropa, vidarebefordra",
    ),
    "v.wait": (
        "wait, pause, sleep, delay, hold, rest, take a break, hold on, idle, stop, hold off, wait for, pause for, stall, breathe",
        "vänta, pausa, sov, vila, dröj",
    ),
    "v.calculate": (
        "calculate, compute, work out, evaluate, figure out, solve, do the maths, do the math, what is, what's, whats, how much is,"
        " how much are, the result of, what does",
        "beräkna, räkna ut, hur mycket är, vad är, vad blir",
    ),
    "v.parse": ("parse, decode, interpret, deserialise, read as, treat as, understand", "tolka, avkoda, parsa"),
    "v.pick": (
        "select, pick, pluck, choose, project",
        "välj, välj ut, ta, hämta, plocka",
    ),
    "v.convert": (
        "convert, turn, transform, change, make, format, render, present, reshape, translate, morph, rewrite, get",
        "omvandla, konvertera, gör om, gör, formatera, förvandla",
    ),
    "v.check": (
        "check, test, see, verify, determine, find out, decide, look, establish, work out, confirm, examine",
        "kolla, kontrollera, undersök, avgör, testa, se efter",
    ),
    "v.route": ("route, direct, dispatch, branch, switch", "styr"),
    "v.multiply": ("multiply, multiplied by, multiplied, product of", "multiplicera"),
    "v.divide": ("divide, divided by, over, ratio of, divided", "dividera, delat med, delat på"),
    "v.plus": ("add, plus, sum of, added to, add together, sum, add up, total of", "plus, addera, lägg ihop"),
    "v.minus": ("subtract, minus, deduct, take away, difference between, less", "minus, subtrahera, dra bort, dra av"),
    "v.greet": ("greet, welcome, salute, say hello to, say hi to, greet the", "hälsa, hälsa på"),
    "v.upper": (
        "uppercase, upper case, capitalise, all caps, capitals, capital letters, make uppercase, shout, upcase, in capitals",
        "versaler, stora bokstäver",
    ),
    "v.lower": (
        "lowercase, lower case, downcase, small letters, make lowercase, without capitals",
        "gemener, små bokstäver",
    ),
    "v.trim": ("trim, trim whitespace, strip whitespace, strip spaces, remove whitespace around", "trimma"),
    "v.reverse": ("reverse, reversed, backwards, flip, invert, in reverse", "vänd, omvänd, baklänges"),
}

MODEL_VERBS = {
    "m.summarise": (
        "summarise, condense, shorten, recap, digest, tl;dr, tldr, sum it up, boil down, give a summary of, write a summary",
        "sammanfatta, korta ner",
    ),
    "mn.summarise": (
        "summary, brief summary, gist, synopsis, abstract, main points, key points, key takeaways, takeaways, highlights, in a nutshell,"
        " executive summary, essence",
        "sammanfattning, huvudpunkter",
    ),
    "m.translate": ("translate, localise, put into", "översätt, översätta"),
    "mn.translate": (
        "translation, translated, in french, in german, in spanish, into english, in swedish, into french, into german, into spanish,"
        " into swedish, into italian, in english, to english, to french, to german, to spanish, to swedish, into norwegian, into danish",
        "översättning, till engelska, till svenska, till franska, till tyska",
    ),
    "m.rewrite": (
        "rewrite, rephrase, paraphrase, reword, polish, proofread, correct the grammar, fix the grammar, fix the spelling, improve,"
        " improve the wording, simplify, make it friendlier, correct the spelling, edit for clarity, make it more, make it sound",
        "skriv om, formulera om, korrekturläs, förbättra, förenkla",
    ),
    "mn.rewrite": ("more formal, more polite, friendlier tone, formal tone, grammar", "mer formell"),
    "m.classify": ("classify, categorise, detect the language, detect the tone", "klassificera, kategorisera"),
    "mn.classify": (
        "sentiment, mood, positive or negative, spam or not, how angry, emotion, urgency, topic, intent, what language, language of,"
        " tone of, theme, attitude, is it rude, tone",
        "känsla, stämning, ämne, ämnen, tonläge",
    ),
    "m.explain": (
        "explain, elaborate, clarify, answer the question, answer questions, answer my question, interpret, brainstorm, critique, evaluate"
        " the argument, reason about, ask an ai, ask the model, ask a language model, chat with, give advice, advise, suggest, recommend,"
        " judge, assess, answer it, answer the user's question",
        "förklara, svara på frågan, svara på frågor, föreslå, rekommendera, bedöm",
    ),
    "mn.explain": (
        "opinion, what it is about, what is it about, conclusions, insights, action items, follow-up questions, advice, chatbot, explanation,"
        " suggestions, recommendations, action points",
        "slutsatser, råd",
    ),
    "m.compose": (
        "compose, draft, write a reply to, write an answer to, write a poem, write a story, write an article, write a blog post,"
        " write a letter, write a haiku, write a tweet, draft a reply, draft an email, write an email, come up with, invent",
        "skriv en dikt, skriv ett brev, skriv ett utkast, hitta på",
    ),
    "mn.compose": (
        "poem, haiku, sonnet, blog post, slogan, tagline, limerick, song, novel, joke, polite reply, cover letter",
        "dikt, skämt",
    ),
    "mn.names": (
        "names of people, names of companies, people mentioned, persons mentioned, companies mentioned, named entities, entities,"
        " places mentioned, organisations mentioned, company names, people's names, names of persons, personal names",
        "personnamn, namn på personer, företagsnamn",
    ),
}

EDIT_VERBS = {
    "e.add": (
        "add, insert, put, append, stick, include, attach, place, squeeze in, slot in, throw in, drop in, introduce, put in, add in,"
        " bring in, hook up",
        "lägg till, infoga, sätt in, stoppa in, lägg in, skjut in",
    ),
    "e.remove": (
        "remove, delete, drop, get rid of, take out, take away, kill, lose, scrap, ditch, throw out, eliminate, cut, skip, erase,"
        " take off, strip out, rip out, bin",
        "ta bort, radera, släng, ta ur, plocka bort",
    ),
    "e.connect": (
        "connect, wire, link, hook, attach, feed, join, plug, pipe, route, draw an edge, run a line",
        "koppla, anslut, länka",
    ),
    "e.disconnect": (
        "disconnect, unlink, unplug, detach, unwire, cut the connection, remove the connection, remove the edge, unhook,"
        " delete the edge, delete the connection, remove the link, drop the edge, break the connection, separate",
        "koppla bort, koppla loss, koppla från, ta bort kopplingen",
    ),
    "e.set": (
        "set, change, make, modify, update, adjust, alter, switch, edit, turn, configure, use, raise, lower, increase, decrease,"
        " reduce, shorten, lengthen, extend, bump, bump up, tweak, point, should be, shall be, must be, ought to be, needs to be,"
        " is now, move, set to, cap, limit",
        "ändra, sätt, uppdatera, justera, höj, sänk, ställ in, använd, ska vara, gör",
    ),
    "e.rename": (
        "rename, call, give a new name, relabel, retitle, change the name of, change the id of, re-name, name",
        "döp om, byt namn på, kalla",
    ),
    "e.replace": ("replace, swap, swap out, exchange, substitute, switch", "byt ut, ersätt, byt"),
}

RUN_VERBS = {
    "r.run": (
        "run, execute, start, try, test, launch, fire, go ahead, kick off, trigger, try out, give it a go, give it a try, fire up, do it,"
        " test it out, start up, give it a spin, give it a whirl, run through, play, take it for a spin, set off, set it going,"
        " test drive, press play",
        "kör, starta, testa, prova, provkör, testkör, exekvera",
    ),
}
