import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.stops";

const sv: Translation<typeof en> = {
  stopped: "Stannad vid en brytpunkt",
  stopped_here: "Stannad före det här steget",
  stopped_before: "Stannad före {{steps}}",
  to_breakpoint: "Fortsätt",
  to_breakpoint_help: "Kör till nästa brytpunkt",
  next_step: "Nästa steg",
  next_step_help: "Stanna igen före nästa steg",
  without_stops: "Fortsätt utan stopp",
  step_through: "Stega igenom",
  breakpoints_one: "Stannar vid {{count}} brytpunkt",
  breakpoints_other: "Stannar vid {{count}} brytpunkter",
  remove_breakpoints: "Ta bort alla",
  edit_output: "Redigera",
  edit_output_help: "Ändra utdata och fäst dem",
  edit_output_of: "Utdata från {{name}}",
  edit_output_about:
    "Testkörningar använder ändrade utdata i stället för att köra steget, tills du lossar dem. En körning som har passerat steget behåller sina egna.",
  pin_edited: "Fäst ändrade utdata",
  not_json: "Rad {{line}} är inte giltig JSON.",
};

export default sv;
