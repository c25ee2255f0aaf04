import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  choose: "Välj en modell",
  default: "Standard ({{model}})",
  find: "Sök modeller…",
  nothing: "Ingen modell matchar.",
  use: "Använd {{model}}",
  not_ready: "Inte ansluten",
  connect: "Anslut en leverantör",
  connect_this: "Anslut {{provider}}",
  price: "{{input}} in, {{output}} ut per miljon token",
  context: "{{count}} k",
  context_more: "Kontextfönster på {{count}} tusen token",
  sees: "Tar emot bilder",
  hears: "Tar emot ljud",
  class: "Godkänd för data upp till {{name}}",
  not_connected: "{{provider}} är inte ansluten ännu: steget kan inte köras.",
  only_connected: "Bara anslutna",
  refresh: "Uppdatera",
  refresh_failed: "Inget svar. Försök igen",
  no_answer: "{{provider}}: ingen server svarar. Starta den eller ändra adressen.",
  no_list: "Servern listar inte sina modeller. Ange {{provider}}/ och modellens namn.",
  unknown: "Finns inte i listan. Leverantören kan ändå erbjuda den.",
};
export default sv;
