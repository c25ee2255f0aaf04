import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  choose: "Välj en modell",
  default: "Standard ({{model}})",
  find: "Sök modell…",
  nothing: "Ingen känd modell heter så.",
  use: "Använd {{model}}",
  not_ready: "Inte ansluten",
  connect: "Anslut en leverantör",
  connect_this: "Anslut {{provider}}",
  price: "{{input}} in, {{output}} ut per miljon token",
  context: "{{count}} k",
  context_more: "Läser upp till {{count}} tusen token",
  sees: "Läser bilder",
  hears: "Hör ljud",
  class: "Får se uppgifter upp till {{name}}",
  not_connected: "{{provider}} är inte ansluten ännu: steget kan inte köras.",
  only_connected: "Bara anslutna",
  refresh: "Uppdatera",
  refresh_failed: "Inget svar: försök igen",
  no_list: "Servern listar inte sina modeller. Skriv {{provider}}/ och namnet.",
  unknown: "En modell som inte finns i listan; leverantören känner till den.",
};
export default sv;
