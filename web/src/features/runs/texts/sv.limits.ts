import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.limits";

const sv: Translation<typeof en> = {
  limits: "Körningens gränser",
  waits_no_more: "Det som steget väntade på har hänt. Det fortsätter med körningen.",
  waits_for_slot: "Väntar på en plats: {{slot}} ({{most}} samtidigt, {{ahead}} före)",
  slot_flow: "det här flödet",
  slot_key: "nyckeln {{key}}",
  ahead_slots: "Högst {{most}} körningar samtidigt, {{ahead}} är före",
  handles_failure: "Den här körningen startades för att en annan körning misslyckades.",
  handler_started: "Flödets felhanterare startades.",
  handler_due: "Flödets felhanterare startas.",
  handler_refused: "Flödets felhanterare startades inte: {{problem}}",
  budgets: "Budgetar",
  budget_of_run: "Den här körningen: {{used}} av {{limit}}",
  budget_above: "Körningen som startade den: {{used}} av {{limit}}",
  budget_of_day: "Flödet i dag: {{used}} av {{limit}}",
  ahead_budget_run: "Budget för en körning: {{limit}}",
  ahead_budget_day: "Flödet i dag: {{used}} av {{limit}} använt",
};

export default sv;
