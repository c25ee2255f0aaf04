import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  contains: "innehåller inte ”{{text}}”",
  excludes: "innehåller ”{{text}}”",
  equals: "är inte ”{{text}}”",
  matches: "har inget som matchar {{text}}",
  no_json: "är inte JSON",
  schema: "följer inte sitt schema: {{text}}",
  empty: "är tomt",
};
export default sv;
