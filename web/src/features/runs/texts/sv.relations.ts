import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.relations";

const sv: Translation<typeof en> = {
  failed_step: "”{{name}}” misslyckades",
  open_node: "Öppna steget",
  fix_with_assistant: "Åtgärda med assistenten",
  fix_request: "Steget '{{step}}' misslyckades i den senaste körningen: {{error}} Åtgärda det.",
  started_runs: "Körningar",
  started_by: "Startad av ett steg i en annan körning: {{step}}, nummer {{number}}.",
  runs_all: "Alla",
  runs_number: "Nummer {{number}}",
  no_such_runs: "Det finns inga sådana körningar.",
};

export default sv;
