import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  close: "Stäng",
  cancel: "Avbryt",
  copy: "Kopiera",
  copy_failed: "Det gick inte att kopiera",
  copied: "Kopierat",
  failed: "Något gick fel",
  offline: "Ingen kontakt med servern",
  retry: "Försök igen",
  notification: "Meddelande",
  loading: "Läser in",
  drop_files: "Släpp filer här, eller välj",
  drop_file: "Släpp en fil här, eller välj",
  remove: "Ta bort",
};
export default sv;
