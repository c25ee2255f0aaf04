import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  choose_flow: "Välj ett flöde",
  find_flow: "Sök flöden",
  no_such_flow: "Inget flöde matchar.",
  flow_gone: "Flödet finns inte längre",
};
export default sv;
