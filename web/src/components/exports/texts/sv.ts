import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  json: "Flöde (JSON)",
  spec: "Flöde (text)",
  svg: "Diagram (SVG)",
  png: "Diagram (PNG)",
  report: "Granskningsrapport (PDF)",
  evidence: "Körningens bevis (JSON)",
  download: "Ladda ner",
  failed: "Filen kunde inte skapas",
};
export default sv;
