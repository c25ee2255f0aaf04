import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  health: "Status",
  server: "Server",
  database: "Databas",
  run_writer: "Skrivning av körningar",
  event_loop: "Händelseloop",
  engine: "Körmotor",
  broker: "Kö",
  results: "Resultatlager",
  worker_processes: "Arbetsprocesser",
  works: "fungerar",
  failed: "svarar inte",
  queue: "I kö: {{count}}",
  workers: "Arbetsprocesser: {{count}}",
  all_works: "Alla delar av servern fungerar.",
  draining: "Servern är tömd: den tar inte emot nytt arbete.",
  something_fails: "En del av servern svarar inte. Driftansvarig kan hitta felet med headgate doctor.",
};
export default sv;
