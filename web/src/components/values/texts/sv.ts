import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  nothing: "Inget",
  empty_text: "Tom text",
  yes: "ja",
  no: "nej",
  open_all: "Visa allt ({{count}} tecken)",
  show_rows: "Visa alla {{count}} rader",
  show_items: "Visa {{count}} till",
  items_one: "{{count}} post",
  items_other: "{{count}} poster",
  members_one: "{{count}} fält",
  members_other: "{{count}} fält",
  rows_one: "{{count}} rad",
  rows_other: "{{count}} rader",
  truncated: "Bara början av {{size}} visas. Ladda ner filen för att se allt.",
  table: "Tabell",
  insert_path: "Infoga {{path}}",
  copy_path: "Kopiera referensen {{path}}",
  copy_value: "Kopiera värdet av {{name}}",
  path_copied: "Referensen är kopierad",
};
export default sv;
