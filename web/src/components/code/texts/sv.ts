import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  leave: "Esc och sedan Tabb lämnar redigeraren",
  problems_one: "{{count}} problem",
  problems_other: "{{count}} problem",
  line: "Rad {{line}}: {{message}}",
};
export default sv;
