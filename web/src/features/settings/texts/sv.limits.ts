import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.limits";

const sv: Translation<typeof en> = {
  limits: "Gränser",
  limits_about: "Gränser för din organisation, dess utrymmen och besökare på publika sidor, och aktuell användning.",
  limits_tenant: "Organisation",
  limits_tenant_more: "Alla utrymmen tillsammans.",
  limits_every_space: "Varje utrymme",
  limits_every_space_more: "Gäller för utrymmen utan egen gräns.",
  limits_visitor: "Varje besökare",
  limits_visitor_more: "Besökare i widgetar och formulär, räknade per nätverksadress.",
  limits_by_operator:
    "Serverns administratör sätter övre gränser med HEADGATE_QUOTAS__*. En körning eller fil över en gräns avvisas; pågående fortsätter.",
  circuits: "Värdar och modeller som inte svarar",
  circuits_about:
    "En värd, modellserver, modell eller MCP-server som misslyckas upprepade gånger anropas inte av flöden en stund. Därefter prövar en begäran den igen.",
  circuits_none: "Inget har misslyckats.",
  circuit_closed: "{{count}} fel i rad, senast {{error}}. Den anropas.",
  circuit_open: "Anropas inte förrän {{until}}: {{count}} fel i rad, senast {{error}}.",
  circuit_half_open: "Nästa begäran prövar den igen: {{count}} fel i rad, senast {{error}}.",
  circuit_reset: "Återställ",
  circuit_reset_of: "Återställ {{host}}",
  quota_runs: "Köade och pågående körningar",
  quota_runs_per_hour: "Körningar per timme",
  quota_tokens_per_day: "Token per dag",
  quota_tokens_per_month: "Token per månad",
  quota_storage_bytes: "Lagrade filer",
  no_limit: "Ingen gräns",
  limit_used: "{{used}} använda",
  limit_used_of: "{{used}} av {{most}} använda",
  limit_at_most: "Högst {{most}}",
  limit_resets: "tillgängligt igen {{when}}",
  change_limit: "Ändra {{what}}: {{who}}",
  limit_of: "{{what}}: {{who}}",
  limit_help: "Lämna tomt om det inte ska finnas någon gräns.",
  limit_help_ceiling: "Högst {{most}}. Lämna tomt för att använda serverns gräns.",
  limit_number: "Ange ett heltal.",
  limit_in_mb: "{{what}} (MB)",
  limit_amount: "Ange ett tal, till exempel 500 eller 1.5.",
  limit_saved: "Gränsen är sparad",
};

export default sv;
