import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  waiting: "Väntar på en händelse",
  named: "Händelsen {{name}}",
  correlated: "med korrelationen {{correlation}}",
  until: "till {{when}} ({{left}})",
  no_end: "utan tidsgräns",
  send: "Skicka händelsen…",
  title: "Skicka en händelse",
  about: "Steg som väntar på namnet och korrelationen fortsätter. Väntar inget steg sparas händelsen i 24 timmar.",
  name: "Händelsens namn",
  correlation: "Korrelation",
  correlation_help: "Värdet som steget väntar på, till exempel ett ordernummer.",
  data: "Data",
  data_help: "JSON eller text som steget får.",
  deliver: "Skicka till alla steg som väntar",
  do_send: "Skicka",
  cancel: "Avbryt",
  delivered_one: "{{count}} steg fick händelsen",
  delivered_other: "{{count}} steg fick händelsen",
  kept: "Inget steg väntar på den än: händelsen sparas",
};

export default sv;
