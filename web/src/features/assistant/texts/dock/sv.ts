import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

export default {
  title: "Assistent",
  close: "Stäng assistenten",
  open_panel: "Öppna assistenten",
} satisfies Translation<typeof en>;
