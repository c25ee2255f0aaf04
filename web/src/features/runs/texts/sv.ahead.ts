import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.ahead";

const sv: Translation<typeof en> = {
  ahead_call: "Kör {{name}}, version {{version}}: {{often}}.",
  ahead_once: "en gång",
  ahead_rounds_one: "{{count}} varv",
  ahead_rounds_other: "högst {{count}} varv",
  ahead_per_round: "varje varv",
  ahead_items_one: "{{count}} post",
  ahead_items_other: "{{count}} poster",
  ahead_per_item: "per post",
  ahead_per_call: "varje gång modellen anropar verktyget",
  ahead_call_cost: "Varje körning minst {{cost}} för {{tokens}} token",
  ahead_shown_above: "Stegen visas ovan.",
  ahead_call_cycle: "Det leder tillbaka till ett flöde som kör det: {{trail}}",
  ahead_call_depth: "Dess flöden kör varandra i för många nivåer.",
  ahead_call_unavailable: "Det är inte publicerat, eller så får du inte köra det.",
  ahead_call_limit: "För många flöden att visa. Torrkör det här flödet för sig.",
};

export default sv;
