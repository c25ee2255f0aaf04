import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.selection";

const sv: Translation<typeof en> = {
  select_run: "Markera körningen {{when}}",
  compare_selected: "Jämför",
  cancel_selected: "Avbryt körningar",
  bulk_cancel_one: "{{count}} körning avbruten",
  bulk_cancel_other: "{{count}} körningar avbrutna",
  bulk_pause_one: "{{count}} körning pausad",
  bulk_pause_other: "{{count}} körningar pausade",
  bulk_continue_one: "{{count}} körning fortsätter",
  bulk_continue_other: "{{count}} körningar fortsätter",
  resume_selected: "Återuppta",
  rerun_selected: "Kör om",
  redeliver_selected: "Leverera igen",
  bulk_resume_one: "{{count}} körning återupptogs",
  bulk_resume_other: "{{count}} körningar återupptogs",
  bulk_rerun_one: "{{count}} körning startades om",
  bulk_rerun_other: "{{count}} körningar startades om",
  bulk_redeliver_one: "Utdata från {{count}} körning levereras igen",
  bulk_redeliver_other: "Utdata från {{count}} körningar levereras igen",
  bulk_refused_one: "{{count}} körning ändrades inte",
  bulk_refused_other: "{{count}} körningar ändrades inte",
  bulk_failed: "Körningarna ändrades inte",
};

export default sv;
