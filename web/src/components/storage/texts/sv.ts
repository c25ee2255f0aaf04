import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  browse: "Bläddra",
  files_of: "Filer i {{name}}",
  about_folder: "Öppna en mapp och välj den sedan.",
  about_file: "Öppna mappar och välj en fil.",
  about_view: "Det som flöden ser med anslutningen.",
  top: "Översta mappen",
  path: "Mapp",
  find: "Sök i mappen…",
  entries: "Mappar och filer",
  empty: "Mappen är tom.",
  none_found: "Inget här innehåller ”{{text}}”.",
  open_folder: "Öppna {{name}}",
  choose_folder: "Välj mappen",
  more: "Visa fler",
  cancel: "Avbryt",
  close: "Stäng",
};
export default sv;
