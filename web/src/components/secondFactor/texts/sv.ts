import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  set_up: "Lägg till en autentiseringsapp",
  set_up_more: "En app i telefonen visar en sexsiffrig kod som du anger efter lösenordet.",
  scan: "Skanna koden med appen, till exempel Google Authenticator, Microsoft Authenticator eller 1Password.",
  qr: "QR-kod för autentiseringsappen",
  by_hand: "Om du inte kan skanna anger du den här nyckeln:",
  copy_secret: "Kopiera nyckeln",
  first_code: "Kod från appen",
  first_code_help: "Sex siffror. De byts var 30:e sekund.",
  turn_on: "Aktivera",
  codes: "Återställningskoder",
  codes_more:
    "Varje kod ersätter appen en gång om du blir av med telefonen. Spara dem tillsammans med dina lösenord: de visas inte igen.",
  copy_codes: "Kopiera koderna",
  save_codes: "Spara som fil",
  kept: "Jag har sparat dem",
  confirm: "Bekräfta din identitet",
  confirm_more: "Ändringen kräver en ny bekräftelse.",
  password: "Nuvarande lösenord",
  code: "Kod",
  code_help: "Sex siffror från autentiseringsappen, eller en återställningskod.",
  confirm_action: "Bekräfta",
  use_passkey: "Använd en passnyckel",
  passkey_failed: "Passnyckeln godkändes inte. Försök igen.",
  cancel: "Avbryt",
  sign_in_again: "Logga ut och in igen, och gör sedan om ändringen.",
};
export default sv;
