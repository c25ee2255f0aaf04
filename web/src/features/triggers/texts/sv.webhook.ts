import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.webhook";

const sv: Translation<typeof en> = {
  verified: "Verifierat",
  verification: "Verifieras som",
  verify_github: "GitHub",
  verify_stripe: "Stripe",
  verify_slack: "Slack",
  verify_standard: "Standard Webhooks",
  verify_hmac: "HMAC i X-Signature",
  verify_basic: "Användarnamn och lösenord",
  verify_key: "Nyckel i X-Api-Key",
  verify_none: "Verifieras inte",
  secret: "Hemlighet",
  secret_help: "Den andra tjänstens hemlighet. Lämna tomt för att skapa en.",
  secret_basic: "Skriv den som användare:lösenord. Lämna tomt för att skapa en.",
  secret_once: "Kopiera hemligheten nu",
  secret_once_about: "Den krypteras och visas inte igen. Den andra tjänsten signerar sina anrop med den.",
  call_does: "Ett anrop",
  answer_accepted: "Startar en körning, svarar direkt",
  answer_result: "Startar en körning, svarar med dess resultat",
  answer_event: "Skickar en händelse",
  sent_name: "Händelse",
  sent_name_help: "Namnet som ett WaitForEvent-steg har. Tomt: anropet har samma innehåll som POST /events.",
  sent_correlation: "Korrelationsvärde",
  sent_correlation_help: "JMESPath i anropet, till exempel body.order.id.",
  sent_data: "Data",
  sent_data_help: "JMESPath i anropet. Tomt: hela innehållet.",
  secret_stored: "Lämna tomt för att behålla den sparade hemligheten.",
};

export default sv;
