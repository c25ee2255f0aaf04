import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  selected_one: "{{count}} markerat",
  selected_other: "{{count}} markerade",
  clear: "Avmarkera",
};
export default sv;
