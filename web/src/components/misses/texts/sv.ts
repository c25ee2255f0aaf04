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
  document: "bygger inte på {{text}}",
  not_supported: "stöds inte av något textavsnitt",
  sentences: "har meningar som inget textavsnitt stöder",
  lacks_number: "saknar talet {{text}} ur referenssvaret",
  lacks_words: "saknar {{text}} ord ur referenssvaret",
  judged: "bedömdes som fel: {{text}}",
};
export default sv;
