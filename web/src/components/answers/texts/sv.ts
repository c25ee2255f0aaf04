import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  choose: "Välj…",
  none: "Inget svar",
  yes: "Ja",
  no: "Nej",
  required: "Fältet är obligatoriskt",
  checked: "Rutan måste vara ikryssad",
  number: "Värdet måste vara ett tal",
  min_number: "Minst {{bound}}",
  max_number: "Högst {{bound}}",
  min_text: "Minst {{bound}} tecken",
  max_text: "Högst {{bound}} tecken",
  min_choices: "Välj minst {{bound}}",
  max_choices: "Välj högst {{bound}}",
};
export default sv;
