import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  extract_about_one: "Det markerade steget flyttas till ett nytt flöde. Ett steg som kör det tar dess plats.",
  extract_about_other:
    "De {{count}} markerade noderna flyttas till ett nytt flöde. Ett steg som kör det tar deras plats.",
  extract_name: "Det nya flödets namn",
  extract_publish: "Publicera det nya flödet",
  extract_publish_help: "Det här flödet kan bara köra ett publicerat flöde.",
  extract_do: "Bryt ut",
  extract_left_one: "{{count}} nod som läser indata eller visar resultatet är kvar.",
  extract_left_other: "{{count}} noder som läser indata eller visar resultatet är kvar.",
  extract_repeat: "Kör det",
  extract_repeat_once: "En gång",
  extract_repeat_each: "För varje post",
  extract_repeat_until: "Tills",
  extract_repeat_once_help: "En körning får samma resultat som förut.",
  extract_repeat_each_help: "En gång för varje post i listan som når markeringen; resultaten blir en lista.",
  extract_repeat_until_help: "Igen med sitt senaste resultat, tills ett JMESPath-villkor på resultatet gäller.",
  extract_until: "Villkor",
  extract_most: "Högst",
  repeats_each: "Det körs för varje post från {{source}}.",
  did_repeat: "Upprepa {{name}} för varje post",
  did_loop: "Upprepa {{name}}",
  did_extract: "Bryt ut {{name}}",
};

export default sv;
