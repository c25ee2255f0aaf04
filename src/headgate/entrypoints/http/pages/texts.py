"""What the pages say, in the languages they speak."""

from collections.abc import Mapping

Texts = Mapping[str, str]

ENGLISH: Texts = {
    "lang": "en",
    "sign_in": "Sign in",
    "email": "E-mail address",
    "password": "Password",
    "show": "Show",
    "hide": "Hide",
    "organisation": "Organisation",
    "or": "or",
    "with": "Sign in with",
    "forgot": "Forgot your password? An admin of your organisation makes you a link to set a new one.",
    "needs_script": "This page needs JavaScript.",
    "set_password": "Set your password",
    "set_for": "For",
    "new_password": "New password",
    "again": "New password once more",
    "rule": "At least 12 characters. Four words that do not belong together are good.",
    "save": "Set password and sign in",
    "to_sign_in": "To the sign-in page",
    "error_sign_in_refused": "The e-mail address or the password is wrong, or the account is closed.",
    "error_organisation_needed": "You have an account in several organisations. Choose one.",
    "error_rate_limited": "There were too many tries. Try again in {seconds} seconds.",
    "error_link_refused": "This link was used already, has expired, or is not whole. Ask an admin for a new one.",
    "error_password_short": "A password has at least 12 characters.",
    "error_password_refused": "Others would guess this password. Choose one that says nothing about you.",
    "error_differ": "The two passwords differ.",
    "error_empty": "Fill in both fields.",
    "error_offline": "The server does not answer. Try again in a moment.",
    "error_single_sign_on": "Signing in that way did not work. Try again, or ask an admin of your organisation.",
    "error_sso_lost": "This sign-in was not begun in this browser, was finished before, or took too long. Try again.",
    "error_sso_cancelled": "The sign-in was cancelled.",
    "error_sso_refused": "You were refused there. Try again, or ask an admin of your organisation.",
    "error_sso_token": "What was said about you there cannot be believed. Try again, or ask an admin.",
    "error_sso_provider": "The other side does not answer as it should. Try again in a moment.",
    "error_sso_email_missing": "Your e-mail address was not sent along. Ask an admin of your organisation.",
    "error_sso_email_unverified": "Your e-mail address is not verified there. Confirm it there, then try again.",
    "error_sso_domain": "E-mail addresses of your domain may not come in. Use another account.",
    "error_sso_not_invited": "Nobody has invited you yet. Ask an admin of your organisation.",
    "error_sso_linked": "The account of your e-mail address is linked to somebody else. Ask an admin.",
    "error_sso_shut_out": "Your account is switched off. Ask an admin of your organisation.",
    "error_other": "That did not work. Try again in a moment.",
}

SWEDISH: Texts = {
    "lang": "sv",
    "sign_in": "Logga in",
    "email": "E-postadress",
    "password": "Lösenord",
    "show": "Visa",
    "hide": "Dölj",
    "organisation": "Organisation",
    "or": "eller",
    "with": "Logga in med",
    "forgot": "Glömt lösenordet? En administratör i din organisation skapar en länk så att du kan välja ett nytt.",
    "needs_script": "Den här sidan behöver JavaScript.",
    "set_password": "Välj ditt lösenord",
    "set_for": "För",
    "new_password": "Nytt lösenord",
    "again": "Nytt lösenord en gång till",
    "rule": "Minst 12 tecken. Fyra ord som inte hör ihop är bra.",
    "save": "Spara lösenordet och logga in",
    "to_sign_in": "Till inloggningen",
    "error_sign_in_refused": "E-postadressen eller lösenordet är fel, eller så är kontot stängt.",
    "error_organisation_needed": "Du har konto i flera organisationer. Välj en av dem.",
    "error_rate_limited": "Det blev för många försök. Försök igen om {seconds} sekunder.",
    "error_link_refused": "Länken är redan använd, har gått ut eller är inte hel. Be en administratör om en ny.",
    "error_password_short": "Ett lösenord har minst 12 tecken.",
    "error_password_refused": "Andra skulle gissa det här lösenordet. Välj ett som inte säger något om dig.",
    "error_differ": "De två lösenorden är olika.",
    "error_empty": "Fyll i båda fälten.",
    "error_offline": "Servern svarar inte. Försök igen om en stund.",
    "error_single_sign_on": "Det gick inte att logga in den vägen. Försök igen, eller fråga en administratör.",
    "error_sso_lost": "Inloggningen började i en annan webbläsare, är redan klar eller tog för lång tid.",
    "error_sso_cancelled": "Inloggningen avbröts.",
    "error_sso_refused": "Du nekades där. Försök igen, eller fråga en administratör.",
    "error_sso_token": "Det som sades om dig där går inte att lita på. Försök igen, eller fråga en administratör.",
    "error_sso_provider": "Den andra sidan svarar inte som den ska. Försök igen om en stund.",
    "error_sso_email_missing": "Din e-postadress skickades inte med. Fråga en administratör.",
    "error_sso_email_unverified": "Din e-postadress är inte bekräftad där. Bekräfta den där och försök igen.",
    "error_sso_domain": "E-postadresser från din domän släpps inte in. Använd ett annat konto.",
    "error_sso_not_invited": "Ingen har bjudit in dig ännu. Fråga en administratör.",
    "error_sso_linked": "Din e-postadress hör till ett konto som är kopplat till någon annan. Fråga en administratör.",
    "error_sso_shut_out": "Ditt konto är avstängt. Fråga en administratör.",
    "error_other": "Det gick inte. Försök igen om en stund.",
}

LANGUAGES: Mapping[str, Texts] = {"en": ENGLISH, "sv": SWEDISH}


def texts_for(accept_language: str) -> Texts:
    """The language that somebody's browser asks for most (RFC 9110, 12.5.4); English where we do not speak it."""
    wished: list[tuple[float, str]] = []
    for part in accept_language[:500].split(","):
        name, _, weight = part.strip().partition(";")
        language = name.strip().lower().partition("-")[0]
        if language in LANGUAGES:
            wished.append((_quality(weight), language))
    best = max(wished, key=lambda one: one[0], default=(0.0, "en"))
    return LANGUAGES[best[1] if best[0] > 0 else "en"]


def _quality(weight: str) -> float:
    name, _, value = weight.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
