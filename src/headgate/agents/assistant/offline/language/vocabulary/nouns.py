"""What people call the things a flow works on: sense to comma-separated phrases, English then Swedish."""

SOURCES = {
    "s.packages": (
        "package, installed package, python package, library, installed library, python library, lib, python lib, pkg, python pkg,"
        " dependency, python dependency, installed dependency, distribution, installed distribution, pip package, module,"
        " python module, installed module, pip list, pip freeze, installed python package, site-packages, third party package,"
        " third-party package, open source component, packages that are installed, python distribution, environment",
        "paket, paketen, installerade paket, installerade paketen, bibliotek, python-paket, pythonpaket, beroende, beroenden,"
        " biblioteken, pythonpaketen",
    ),
    "s.form": (
        "form, form field, form data, form input, form answer, form values, questionnaire, submission, submitted form, web form,"
        " form submission, submitted data, submitted values, fields of the form, filled in form",
        "formulär, formuläret, formulärfält, formulärets fält, enkät, enkäten",
    ),
    "s.file": (
        "file, uploaded file, upload, uploaded document, document, attachment, attached file, attached document, uploaded log,"
        " log, log file, logfile, spreadsheet, uploaded spreadsheet, uploaded text file, doc, input file, text file, pdf,"
        " uploaded pdf, uploaded csv, csv upload, csv file, uploaded csv file, pdf file, word document, word file, docx, excel file,"
        " excel sheet, dataset, data set, data file, file upload, uploaded data, transcript, uploaded one, source file, my file,"
        " attached csv, attached pdf, given file, uploaded table, json file, uploaded json, html file, contract, invoice pdf, manual",
        "fil, filen, uppladdad fil, uppladdade filen, dokument, dokumentet, bilaga, bilagan, uppladdat dokument, csv-fil,"
        " csv-filen, csvfilen, loggfil, loggfilen, loggen, uppladdade dokumentet, kalkylark, kalkylarket, pdf-filen, fil jag laddar upp",
    ),
    "s.text": (
        "text, input text, input, user input, message, chat message, user message, incoming message, pasted text, paragraph of text,"
        " chunk of text, piece of text, my text, given text, text input, prompt, string, typed text, what i type, what i write,"
        " what i paste, what i enter, whatever i type, whatever i paste, whatever i write, whatever i type in, what i say,"
        " whatever text i paste, whatever i enter, block of text, body of text, words i type, user's text, user's message,"
        " question, note, notes, txt, clipboard, text i paste, text i type, text i enter, text i give, content, passage, essay,"
        " letter, comment, feedback, ticket, review, post, email body, chat, inquiry, enquiry, request, complaint, entered text,"
        " article, speech, customer message, what people write, what the user types, what users type, what the user writes, typed in text",
        "text, texten, min text, meddelande, meddelandet, inmatning, indata, det jag skriver, det jag klistrar in, fråga, frågan,"
        " inmatade texten, inklistrade texten, inlägg, inlägget, texter, ärende, ärendet",
    ),
    "s.page": (
        "page, web page, webpage, website, web site, site, landing page, article at, web page's text",
        "sida, sidan, webbsida, webbsidan, hemsida, hemsidan, webbplats",
    ),
    "s.now": (
        "today's date, current date, current time, date today, time now, today, date and time, current day, time of day, now,"
        " current timestamp, timestamp, current date and time, present date, what day it is, what time it is, todays date, date of today,"
        " the time, time right now, clock, present time",
        "dagens datum, datum idag, aktuell tid, aktuellt datum, klockan, tiden nu, idag",
    ),
    "s.history": (
        "chat history, conversation history, message history, earlier messages, previous messages, conversation so far,"
        " past messages, history of the chat, chat so far, history",
        "chatthistorik, samtalshistorik, tidigare meddelanden, historiken",
    ),
}

UNITS = {
    "u.line": ("line, row, text line, lines of text", "rad, rader, raderna, raden"),
    "u.sentence": ("sentence, phrase", "mening, meningar, meningarna, meningen"),
    "u.paragraph": ("paragraph, block, passage, section", "stycke, stycken, styckena, stycket"),
    "u.word": ("word, token, term", "ord, orden, ordet"),
    "u.character": ("character, char, letter, symbol", "tecken, tecknen, bokstav, bokstäver, bokstäverna"),
    "u.part": (
        "part, piece, chunk, item, element, entry, bit, fragment, segment, portion, record, value, field of it, slice",
        "del, delar, delarna, bit, bitar, bitarna, post, poster, posterna, värde, värden, värdena",
    ),
}

TARGETS = {
    "t.email": (
        "email, email address, e-mail, e-mail address, mail address, emails, mails, mail, e-mails, email ids, email addys",
        "epost, e-post, e-postadress, e-postadresser, e-postadresserna, epostadress, epostadresser, mejladress, mejladresser,"
        " mejladresserna, mailadress, mailadresser",
    ),
    "t.url": (
        "url, link, hyperlink, web address, web link, http link, weblink, web addresses, uri, links to pages, href",
        "länk, länkar, länkarna, webbadress, webbadresser, url, urler",
    ),
    "t.phone": (
        "phone number, telephone number, phone, mobile number, cell number, contact number, phones, tel number, cell phone number,"
        " mobile phone number, telephone, phone no",
        "telefonnummer, telefonnumren, mobilnummer, telefon",
    ),
    "t.money": (
        "amount of money, money amount, sum of money, currency amount, dollar amount, monetary amount, monetary value, amounts in kr,"
        " amounts in dollars, dollar value, price tag, euro amount, amounts in euro, money",
        "belopp i kronor, penningbelopp, summor pengar",
    ),
    "t.number": (
        "number, figure, digit, integer, numeric value, numeral, numbers",
        "tal, talen, siffra, siffror, siffrorna, nummer",
    ),
    "t.percent": ("percentage, percent value, percentages", "procentsats, procentsatser"),
    "t.date": ("date, iso date, calendar date, day mentioned, date mentioned", "datum, datumen, datumet"),
    "t.time": (
        "clock time, time of the day, times mentioned, times of day, time stamp",
        "klockslag, tidpunkt, tidpunkter",
    ),
    "t.year": ("year", "år, årtal, åren"),
    "t.ip": (
        "ip, ip address, ipv4, ipv4 address, ips, ip number, ipv4 addr, ip addr, host address",
        "ip-adress, ip-adresser, ip-adresserna, ipadress, ipadresser",
    ),
    "t.hashtag": ("hashtag, hash tag", "hashtagg, hashtaggar, hashtaggarna"),
    "t.handle": (
        "mention, handle, @mention, username, user handle, @handle, at-mention, twitter handle",
        "användarnamn, omnämnande",
    ),
    "t.uuid": ("uuid, guid", ""),
    "t.hex": ("hex colour, hex code, colour code, hex colour code", "färgkod, färgkoder"),
    "t.tag": ("html tag, html, tag, markup, xml tag", "html-tagg, html-taggar, taggar"),
    "t.heading": (
        "heading, headline, header, markdown heading, section title, subheading",
        "rubrik, rubriker, rubrikerna",
    ),
    "t.quote": ("quotation, quoted text, quoted phrase, text in quotes, quotes", "citat, citaten"),
    "t.acronym": (
        "acronym, abbreviation, uppercase word, all caps word, capitalised word, words in capitals",
        "förkortning, förkortningar",
    ),
    "t.domain": (
        "domain, domain name, email domain, mail domain, host, hostname, host name",
        "domän, domäner, domännamn",
    ),
    "t.question": ("questions asked, question sentence, sentences that are questions", ""),
    "t.emoji": ("emoji, emoticon, smiley", "emoji, emojis"),
    "t.punctuation": (
        "punctuation, punctuation mark, punctuation character, full stop, comma",
        "skiljetecken, interpunktion",
    ),
    "t.space": (
        "whitespace, extra space, double space, extra whitespace, white space, multiple space, surplus space, space",
        "blanksteg, mellanslag, extra mellanslag",
    ),
    "t.blank": (
        "empty line, blank line, blank row, empty row, blank, empties, empty ones",
        "tomma rader, tom rad, blankrader",
    ),
    "t.version": ("version number, semver, version string", "versionsnummer"),
    "t.filename": ("filename, file name mentioned", "filnamn"),
    "t.card": ("credit card number, card number, credit card", "kortnummer, kreditkortsnummer"),
    "t.personnummer": (
        "personal identity number, social security number, ssn, personal number",
        "personnummer, personnumren",
    ),
}

FORMATS = {
    "f.csv": (
        "csv, csv file, comma separated file, comma separated values, spreadsheet, csv format, excel-readable file",
        "csv-fil, csv",
    ),
    "f.json": ("json, json file, json format, json document, json array", "json, json-fil"),
    "f.markdown": (
        "markdown, md, md file, markdown file, markdown document, markdown format, markdown page",
        "markdown",
    ),
    "f.html": ("html page, html file, web page file, html document, html format, html", "html-sida, html-fil"),
    "f.text": (
        "text file, txt file, plain text, txt, plain text file, .txt, plain text format",
        "textfil, textfilen, ren text",
    ),
    "f.table": (
        "table, markdown table, grid, neat table, table view, tabular form",
        "tabell, markdown-tabell, tabellform",
    ),
    "f.list": ("list, simple list, plain list, overview list", "lista"),
    "f.bullets": (
        "bulleted list, bullet list, bullet points, bullets, bullet point list, dashed list",
        "punktlista, punkter",
    ),
    "f.numbered": ("numbered list, ordered list, enumeration, numbered", "numrerad lista"),
    "f.report": (
        "report, document, summary report, overview, write-up, one-pager, dossier, status report, brief report, page, digest file,"
        " note, readout, one-page overview, roundup, dashboard, statement, inventory",
        "rapport, rapporten, översikt, dokument, sammanställning",
    ),
    "f.file": (
        "file, output file, result file, new file, single file, one file, disk",
        "fil, en fil, filen, resultatfil",
    ),
    "f.unsupported": (
        "pdf, excel, xlsx, word document, docx, powerpoint, slides, word file, pdf file, excel file, pdf report, image, png",
        "pdf, excel, word-dokument",
    ),
}

REFERENCES = {
    "ref.others": (
        "others, the others, other ones, the other ones, all others, other rows, other lines, everything not in it",
        "de andra, övriga",
    ),
    "ref.one": (
        "it, this, that, result, outcome, output, answer, the whole thing, that one, outcome of that, product, findings"
        ", finding, decision, conclusion, verdict, value, response, what you get, what comes out, final result, end result, lot,"
        " the resulting text",
        "det, den, detta, resultatet, svaret, resultat, beslutet, utfallet",
    ),
    "ref.many": (
        "them, these, those, they, ones, results, matches, hits, remaining, remaining ones, rest, which ones, the ones, survivors,"
        " remainder, each of them, all of them, any of them, some of them, each one, each",
        "dem, de, dessa, träffar, träffarna, resten, resultaten, vilka",
    ),
    "ref.both": (
        "both, everything, all of it, the two, all three, these two, all this, all that, the lot, both of them, both lists, both numbers,"
        " both results, both parts, both values, all results, both things, each result, all the results, two lists, two results, two numbers,"
        " both texts, both tables, both counts, three counts, two counts, both pages, both files, three results, all of these, all of those,"
        " all parts, the pieces together, three numbers, two parts, two tables",
        "båda, bägge, allt, alltihop, alla tre, de två, båda delarna, båda listorna",
    ),
}

COLUMN_NOUNS = (
    "price, cost, amount, city, country, region, state, department, team, customer, client, supplier, product, category, type, status,"
    " priority, salary, revenue, sales, profit, quantity, qty, total, subtotal, age, gender, score, grade, rating, name, title, email, date,"
    " month, year, day, week, id, number, weight, height, length, width, size, colour, brand, model, store, branch, owner, author, manager,"
    " employee, project, task, hours, duration, distance, speed, temperature, currency, vat, tax, discount, fee, income, expense, budget,"
    " balance, points, level, rank, position, role, company, organisation, address, street, zip, postcode, phone, language, version, licence,"
    " license, summary, homepage, population, area, code, sku, item, order, invoice, account, source, channel, campaign, stock, unit, class,"
    " subject, student, teacher, course, exam, user, username, firstname, lastname, surname, stad, land, pris, kund, belopp, avdelning, lön,"
    " antal, namn, datum, kategori, produkt, ålder, kommun, län, status, typ, storlek, licens, licenser, version, år, månad, region, land, butik, betyg, poäng"
)
"""Words that usually name a column or form field; known so that they are not taken for slips of other words."""
