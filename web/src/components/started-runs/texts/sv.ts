import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  runs_done: "{{completed}} klara",
  runs_done_of: "{{completed}} av {{total}} klara",
  runs_active: "{{active}} pågår",
  runs_failed: "{{failed}} misslyckade",
  runs_cancelled: "{{cancelled}} avbrutna",
};

export default sv;
