import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  step_of: "Steg i",
  back: "Inställningar för noden som kör flödet",
  open: "Öppna",
  changes: "Du ändrar flödet {{name}}. Dess publicerade version körs tills du publicerar ändringarna där.",
  read_only: "Du har läsbehörighet till flödet {{name}}.",
  gone: "Flödets utkast har inte längre det här steget.",
};

export default sv;
