import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  added: "tillagd",
  removed: "borttagen",
  changed: "ändrad",
  pending: "inte körd än",
  running: "körs",
  waiting: "väntar",
  completed: "klar",
  failed: "misslyckades",
  cancelled: "avbruten",
  skipped: "överhoppad",
};
export default sv;
