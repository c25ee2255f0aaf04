import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  flows: "Flöden",
  templates: "Mallar",
  runs: "Körningar",
  observe: "Översikt",
  settings: "Inställningar",
  main_navigation: "Huvudmeny",
  skip: "Till innehållet",
  commands: "Kommandon",
  find_command: "Skriv ett kommando eller ett flöde…",
  no_command: "Inget heter så.",
  shortcuts: "Kortkommandon",
  not_found: "Här finns ingenting",
  not_found_more: "Adressen kan vara gammal, eller så är det den ledde till borttaget.",
  go_home: "Till dina flöden",
  crashed: "Sidan stannade",
  try_again: "Försök igen",
  canvas: "Arbetsyta",
  steps: "Steg",
  overview: "Översikt",
  publish: "Publicera",
  assistant: "Assistent",
  run: "Kör",
  views: "Flödets vyer",
};
export default sv;
