import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  leave: "Tryck på Esc och sedan Tabb för att lämna redigeraren",
  problems_one: "{{count}} problem",
  problems_other: "{{count}} problem",
  line: "Rad {{line}}: {{message}}",
};
export default sv;
