import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  comments: "Kommentarer",
  comment: "Kommentar",
  hint: "Skriv en kommentar; @ nämner en medlem",
  mention: "Medlemmar att nämna",
  send: "Kommentera",
  save: "Spara",
  cancel: "Avbryt",
  edit: "Redigera",
  delete: "Ta bort",
  resolve: "Markera som löst",
  reopen: "Öppna igen",
  resolved: "Löst",
  edited: "redigerad",
  actions: "Mer för kommentaren",
  deleted_user: "Borttagen användare",
  deleted_node: "Borttagen nod",
  none: "Inga öppna kommentarer.",
  show_resolved_one: "Visa {{count}} löst kommentar",
  show_resolved_other: "Visa {{count}} lösta kommentarer",
  hide_resolved: "Dölj lösta kommentarer",
  failed: "Kommentaren kunde inte sparas",
};
export default sv;
