import type { Translation } from "@/lib/i18n/texts";
import type en from "./en";

const sv: Translation<typeof en> = {
  show_node: "Visa ”{{name}}”",
  set_variable: "Ange variabeln {{name}}",
  set_up_model: "Konfigurera modeller",
  add_connection: "Lägg till anslutningen {{name}}",
  connection_missing: "Anslutningen {{name}} är inte tillgänglig.",
  add_server: "Lägg till MCP-servern {{name}}",
  variable_kept: "Variabeln {{name}} är inte sparad för den servern.",
  variable_missing: "Variabeln {{name}} har inget värde.",
  model_missing: "Modellen {{name}} är inte tillgänglig.",
  server_missing: "MCP-servern {{name}} är inte tillgänglig.",
};
export default sv;
