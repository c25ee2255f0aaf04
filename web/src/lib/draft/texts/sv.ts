import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  add: "Lägg till {{what}}",
  remove: "Ta bort {{what}}",
  remove_nodes: "Ta bort {{count}} noder",
  connect: "Koppla",
  disconnect: "Koppla isär",
  move: "Flytta",
  set: "Ange {{what}}",
  policy: "Ändra regler",
  rename: "Byt namn på nod",
  code: "Ändra kod",
  form: "Ändra formulär",
  settings: "Ändra inställningar",
  about: "Byt namn på flödet",
};
export default sv;
