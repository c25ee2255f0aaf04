import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  sizes: "Textavsnitt på upp till {{tokens}} token, plus upp till {{overlap}} ur det föregående.",
  choose_sizes: "Ändra storlek på textavsnitt",
  passage_sizes: "Storlek på textavsnitt",
  passage_sizes_more: "Gäller dokument som indexeras senare och de som indexeras om.",
  passage_tokens: "Token i ett textavsnitt",
  overlap_tokens: "Överlappning i token",
  preview_of: "Förhandsgranska på ett dokument",
  preview_none: "Ingen förhandsgranskning",
  preview_before: "Förhandsgranska textavsnitt innan dokument läggs till",
  preview_file: "Förhandsgranskning av {{name}}",
  preview_more_about: "Så skulle det delas upp. Inget sparas förrän det läggs till.",
  preview_add: "Lägg till dokument",
  preview_tried: "Ett försök: det läggs till med basens storlek, {{tokens}} token med {{overlap}} i överlappning.",
  preview_sum_one: "{{count}} textavsnitt på {{largest}} token.",
  preview_sum_other: "{{count}} textavsnitt på {{smallest}} till {{largest}} token, {{tokens}} totalt.",
  preview_tokens_one: "{{number}}: {{count}} token",
  preview_tokens_other: "{{number}}: {{count}} token",
  preview_overlap: "Upprepar textavsnittet före",
  preview_more_one: "Det första textavsnittet visas.",
  preview_more_other: "De första {{count}} textavsnitten visas.",
};

export default sv;
