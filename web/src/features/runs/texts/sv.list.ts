import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.list";

const sv: Translation<typeof en> = {
  columns: "Kolumner",
  column_trigger: "Utlösare",
  column_version: "Version",
  column_cost: "Kostnad",
  column_duration: "Tid",
  column_owner: "Ägare",
  column_tags: "Taggar",
  columns_more: "Sparas för dig, på alla enheter.",
  columns_failed: "Kolumnerna sparades inte",
  cost_unpriced: "Utan {{count}} anrop vars pris är okänt",
  export_runs: "Exportera",
  export_csv: "Som CSV",
  export_jsonl: "Som JSON-rader",
  filter_owner: "Flödets ägare",
  every_owner: "Alla ägare",
  owned_by_me: "Mina flöden",
  filter_tag: "Tagg",
  every_trigger: "Alla utlösare",
  every_tag: "Alla taggar",
  list_waits_time: "Till sin tid",
  list_waits_retry: "Till nästa försök",
  list_waits_approval: "På godkännande",
  list_waits_run: "På körningar den startat",
  list_waits_slot: "På en ledig plats",
  list_waits_breakpoint: "Stannad vid en brytpunkt",
};

export default sv;
