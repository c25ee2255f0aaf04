import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  back_to: "Tillbaka till {{name}}",
  back_more:
    "Tillbaka till {{name}}, som kör flödets publicerade version. Ändringar börjar gälla när du publicerar dem.",
};

export default sv;
