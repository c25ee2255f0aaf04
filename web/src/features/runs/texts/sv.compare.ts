import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.compare";

const sv: Translation<typeof en> = {
  comparing: "Jämförelse av två körningar",
  this_run: "Den här körningen",
  other_run: "Den andra körningen",
  only_here: "Bara i den här körningen",
  only_there: "Bara i den andra körningen",
  same_output: "Samma utdata",
  changed_output: "Andra utdata",
  difference: "Skillnad",
  stop_comparing: "Sluta jämföra",
  faster: "{{time}} snabbare",
  slower: "{{time}} långsammare",
  compare_with: "Jämför med…",
};

export default sv;
