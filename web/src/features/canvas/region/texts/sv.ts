import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  steps_of: "Stegen i {{name}}",
  steps_of_version: "Stegen i {{name}}, version {{version}}",
  version: "version {{version}}",
  no_flow: "okänt flöde",
  edit: "Redigera {{name}}",
  edit_more: "Redigera {{name}}. Den publicerade versionen körs tills du publicerar dina ändringar.",
  edit_pinned: "Redigera {{name}}. Steget kör version {{version}}, även när du har publicerat dina ändringar.",
  hide: "Dölj stegen",
  before: "Föregående körning",
  after: "Nästa körning",
  number_of: "{{number}} av {{total}}",
  open_run: "Öppna körningen",
  steps_one: "{{count}} steg",
  steps_other: "{{count}} steg",
  choose_flow: "Välj vilket flöde noden kör för att se dess steg.",
  unknown_flow: "Flödet finns inte, eller så har du inte åtkomst till det.",
  unpublished: "Flödet har ingen publicerad version. Publicera det så att noden kan köra det.",
};

export default sv;
