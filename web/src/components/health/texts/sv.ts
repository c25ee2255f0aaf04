import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  health: "Hälsa",
  server: "Server",
  database: "Databas",
  engine: "Motor för körningar",
  broker: "Kö",
  results: "Resultatlager",
  worker_processes: "Arbetare",
  works: "fungerar",
  failed: "svarar inte",
  queue: "Väntar på en arbetare: {{count}}",
  workers: "Arbetare: {{count}}",
  all_works: "Alla delar av servern fungerar.",
  something_fails: "En del av servern svarar inte. Driftansvarig ser vilken med headgate doctor.",
};
export default sv;
