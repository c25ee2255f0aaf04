import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  contains: "innehåller inte ”{{text}}”",
  excludes: "innehåller ”{{text}}”",
  equals: "är inte ”{{text}}”",
  matches: "matchar inte {{text}}",
  no_json: "är inte giltig JSON",
  schema: "följer inte schemat: {{text}}",
  empty: "är tomt",
};
export default sv;
