import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.flowise";

const sv: Translation<typeof en> = {
  flowise: "Flowise-servrar",
  flowise_about: "Där utvecklingsagenten får bygga chattflöden, vid sidan av flödena här.",
  no_flowise: "Ingen Flowise-server ännu",
  no_flowise_more:
    "Lägg till en med dess adress och en API-nyckel till den, så kan utvecklingspass arbeta med dess chattflöden.",
  add_flowise: "Lägg till en Flowise-server",
  add_flowise_more: "Nyckeln förvaras krypterad, skickas bara till den här servern och visas aldrig igen.",
  flowise_name_help: "Det som utvecklingspass väljer den med.",
  flowise_name_wrong: "Bokstäver a–z, siffror, mellanslag, punkt och streck; först en bokstav eller siffra.",
  flowise_address_wrong: "Ange en adress som börjar med https://",
  flowise_key: "API-nyckel",
  flowise_key_help: "Skapas i Flowise under API Keys. Tomt: servern kräver ingen.",
  flowise_has_key: "med nyckel",
  flowise_no_key: "utan nyckel",
  flowise_answers: "Flowise {{version}} svarar på {{time}}, med {{count}} komponenter.",
  of_the_operator: "från driften",
  delete_flowise_more: "Dess nyckel glöms samtidigt. Chattflöden på servern står kvar som de är.",
};
export default sv;
