import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.connections";

export default {
  connections: "Anslutningar",
  connections_about:
    "Tjänster som flöden når: namn, adress och inloggning på ett ställe. Flöden anger anslutningens namn, och dess hemligheter visas aldrig igen.",
  add_connection: "Ny anslutning",
  find_connection: "Sök anslutningar…",
  no_connection_found: "Ingen anslutning matchar ”{{text}}”.",
  no_connections: "Inga anslutningar än",
  no_connections_more:
    "Anslut ett API, en brevlåda, en databas eller ett fillager en gång och använd det i alla flöden.",
  delete_connection_more:
    "Dess token återkallas hos leverantören där det stöds. Flöden som anger den misslyckas när de körs.",
  connection_authorized: "”{{name}}” är auktoriserad.",
  connection_tools_one: "MCP-servern ”{{name}}”: {{count}} verktyg.",
  connection_tools_other: "MCP-servern ”{{name}}”: {{count}} verktyg.",
  connection_untested: "Inte testad",
  connection_ready: "Klar",
  connection_failed: "Misslyckades",
  connection_unauthorized: "Inloggning krävs",
  connection_rejected: "Logga in igen",
  connection_pending: "Väntar",
  connection_personal: "Personlig",
  connection_expired: "Har gått ut",
  connection_expires_one: "Går ut om {{count}} dag",
  connection_expires_other: "Går ut om {{count}} dagar",
  connection_used: "Användes {{when}}",
  connection_unused: "Inte använd än",
  connection_tables: "Tabeller",
  connection_api: "API",
  connection_flows: "Flöden",
  connection_no_flows: "Inget flöde anger anslutningen.",
  connection_in_published: "Publicerad",
  authorize: "Logga in",
} satisfies Translation<typeof en>;
