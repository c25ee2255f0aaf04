import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  set_up: "Lägg till en autentiseringsapp",
  set_up_more: "En app i telefonen visar sex siffror som du skriver in efter lösenordet.",
  scan: "Skanna koden med appen, till exempel Google Authenticator, Microsoft Authenticator eller 1Password.",
  qr: "QR-kod för autentiseringsappen",
  by_hand: "Om du inte kan skanna anger du den här nyckeln:",
  copy_secret: "Kopiera nyckeln",
  first_code: "Kod från appen",
  first_code_help: "Sex siffror. De byts var 30:e sekund.",
  turn_on: "Aktivera",
  codes: "Återställningskoder",
  codes_more:
    "Var och en ersätter appen en gång, om du blir av med telefonen. Spara dem där du har dina lösenord: de visas inte igen.",
  copy_codes: "Kopiera koderna",
  save_codes: "Spara som fil",
  kept: "Jag har sparat dem",
  confirm: "Bekräfta att det är du",
  confirm_more: "Den här ändringen kräver att du nyligen har bekräftat.",
  password: "Nuvarande lösenord",
  code: "Kod",
  code_help: "Sex siffror från autentiseringsappen, eller en återställningskod.",
  confirm_action: "Bekräfta",
  use_passkey: "Använd en passnyckel",
  passkey_failed: "Passnyckeln godtogs inte. Försök igen.",
  cancel: "Avbryt",
  sign_in_again: "Logga ut och in igen, och gör sedan om ändringen.",
};
export default sv;
