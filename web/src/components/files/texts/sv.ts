import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  choose_file: "Släpp en fil här eller välj en",
  choose_files: "Släpp filer här eller välj dem",
  drop_now: "Släpp för att lägga till",
  wrong_kind: "Filtypen för {{name}} godtas inte",
  size_limit: "Högst {{size}} per fil",
  remove: "Ta bort {{name}}",
  cancel: "Avbryt uppladdningen av {{name}}",
  uploading: "{{name}} laddas upp",
  too_large: "{{name}} är {{size}}. Gränsen är {{limit}}.",
  a_file: "filen",
  retry: "Försök igen",
  download: "Ladda ner {{name}}",
};
export default sv;
