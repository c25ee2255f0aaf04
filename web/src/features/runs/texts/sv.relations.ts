import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.relations";

const sv: Translation<typeof en> = {
  started_runs: "Körningar",
  started_by: "Startad av ett steg i en annan körning: {{step}}, nummer {{number}}.",
  runs_done: "{{completed}} klara",
  runs_done_of: "{{completed}} av {{total}} klara",
  runs_active: "{{active}} pågår",
  runs_failed: "{{failed}} misslyckade",
  runs_cancelled: "{{cancelled}} avbrutna",
  runs_all: "Alla",
  runs_number: "Nummer {{number}}",
  no_such_runs: "Det finns inga sådana körningar.",
};

export default sv;
