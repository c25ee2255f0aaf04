import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.flowise";

const sv: Translation<typeof en> = {
  flowise: "Flowise-servrar",
  flowise_about: "Servrar där utvecklingsagenten kan bygga chattflöden.",
  no_flowise: "Ingen Flowise-server ännu",
  no_flowise_more:
    "Lägg till en med dess adress och en API-nyckel, så att utvecklingssessioner kan arbeta med dess chattflöden.",
  add_flowise: "Lägg till en Flowise-server",
  add_flowise_more: "Nyckeln lagras krypterad, skickas bara till den här servern och visas aldrig igen.",
  flowise_name_help: "Visas när du startar en session.",
  flowise_name_wrong:
    "Använd bokstäver a–z, siffror, mellanslag, punkt och streck, och börja med en bokstav eller siffra.",
  flowise_address_wrong: "Ange en adress som börjar med https://",
  flowise_key: "API-nyckel",
  flowise_key_help: "Skapas i Flowise under API Keys. Lämna tomt om servern inte kräver någon.",
  flowise_has_key: "med nyckel",
  flowise_no_key: "utan nyckel",
  flowise_answers: "Flowise {{version}} svarade på {{time}} med {{count}} komponenter.",
  of_the_operator: "inställd av driften",
  delete_flowise_more: "Dess nyckel tas också bort. Chattflöden på servern finns kvar.",
};
export default sv;
