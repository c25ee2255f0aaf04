import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.list";

const sv: Translation<typeof en> = {
  filter_text: "Sök bland utlösare och flöden",
  filter_flow: "Flöde",
  filter_kind: "Typ",
  filter_state: "Tillstånd",
  filter_all_flows: "Alla flöden",
  filter_all_kinds: "Alla typer",
  filter_all_states: "Alla tillstånd",
  filter_none: "Inga matchande utlösare",
  filter_none_more: "Ingen utlösare matchar filtret.",
  filter_clear: "Rensa filtret",
  folded: "{{every}}, {{count}} gånger till {{until}}",
  words_minute: "Varje minut",
  days: "På helger och helgdagar",
  days_every: "Körs också",
  days_business: "Körs inte",
  days_next_business: "Körs nästa arbetsdag",
  holidays: "Helgdagar",
  holidays_help: "Heldagshändelserna i en kalender (.ics), upp till fem år framåt.",
  holidays_choose: "Välj en kalender",
  holidays_remove: "Ta bort",
  holidays_count_one: "{{count}} dag",
  holidays_count_other: "{{count}} dagar",
  holidays_failed: "Kalendern kunde inte läsas",
  poll_look_back: "Rader som läses igen",
  poll_look_back_help:
    "Av de sista raderna, vid varje avläsning: en transaktion som slutar sent kan lägga till rader bland dem. 0 till 1 000.",
  start_title: "Utlösare",
  start_more: "{{amount}} till",
  start_on: "På",
  start_off: "Av",
  start_failing: "Misslyckas",
  start_unpublished: "Hoppas över tills flödet är publicerat",
};
export default sv;
