import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  title: "Flödets tillstånd",
  about: "Värden som körningar sparar för senare körningar, med komponenterna Skriv tillstånd och Läs tillstånd.",
  published: "Publicerade versioner",
  drafts: "Testkörningar",
  whose: "Körningar",
  empty: "Ingen körning har skrivit något värde än",
  empty_more:
    "Lägg till ett steg Skriv tillstånd för att spara en räknare, en position eller en lista mellan körningar.",
  names: "Värden",
  type: "Deklarerad typ",
  version: "Version {{version}}, ändrad {{when}}",
  value: "Värde",
  value_help: "JSON eller text. Ändringen nekas om en körning har ändrat värdet under tiden.",
  save: "Spara",
  saved: "{{name}} ändrades",
  remove: "Ta bort {{name}}",
  removed: "{{name}} togs bort",
  classification: "Klassificering",
  history: "Historik",
  by_run: "av en körning",
  by_user: "av en användare",
  failed: "Värdet ändrades inte",
  back: "Alla värden",
};
export default sv;
