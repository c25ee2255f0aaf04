import type { Translation } from "@/lib/i18n/texts";
import type en from "./en.keyring";

const sv: Translation<typeof en> = {
  keyring: "Krypteringsnycklar",
  keyring_about:
    "Installationens nycklar. Rotera dem regelbundet, och när någon av dem kan ha röjts. Det krävs inget driftstopp.",
  keys_of_secrets: "Kryptering av hemligheter",
  keys_of_secrets_about: "Krypterar variabler, token och andra hemligheter i databasen.",
  keys_of_evidence: "Signering av bevis",
  keys_of_evidence_about: "Signerar bevis från körningar och exporter av granskningsloggen.",
  key_prepared: "Förberedd",
  key_current: "Aktuell",
  key_old: "Äldre",
  key_retired: "Avvecklad",
  key_revoked: "Återkallad",
  key_missing: "Saknas på den här servern",
  key_unknown: "okänd",
  key_created: "skapad {{when}}",
  key_first: "Installationens första nyckel",
  key_since: "aktuell sedan {{when}}",
  key_replaced: "ersatt {{when}}",
  key_retired_at: "avvecklad {{when}}",
  key_revoked_at: "återkallad {{when}}",
  key_values_one: "Krypterar {{shown}} lagrat värde:",
  key_values_other: "Krypterar {{shown}} lagrade värden:",
  key_no_values: "Krypterar inga lagrade värden.",
  values_approvals: "Godkännanden",
  values_sessions: "Utvecklingssessioner",
  values_connections: "Anslutningar",
  values_files: "Filer och konversationer",
  values_events: "Händelser",
  values_states: "Flödens tillstånd",
  values_calls: "Svar från modeller och verktyg",
  values_mcp: "MCP-servrar",
  values_models: "Modellservrar",
  values_factors: "Andra faktorer",
  values_alerts: "Larmregler",
  values_triggers: "Utlösare",
  values_variables: "Variabler",
  values_deliveries: "Leveranser",
  rotate: "Rotera",
  rotate_secrets: "Rotera krypteringsnyckeln",
  rotate_evidence: "Rotera signeringsnyckeln",
  rotate_secrets_sure: "Rotera krypteringsnyckeln?",
  rotate_evidence_sure: "Rotera signeringsnyckeln?",
  rotate_secrets_more:
    "En ny nyckel blir den aktuella när alla servrar och arbetsprocesser kan läsa den. Därefter krypteras lagrade värden om. Maskiner utan delad datamapp behöver en kopia av den nya nyckelfilen.",
  rotate_evidence_more:
    "En ny nyckel signerar när alla servrar och arbetsprocesser kan läsa den. Bevis som äldre nycklar har signerat förblir giltiga. Maskiner utan delad datamapp behöver en kopia av den nya nyckelfilen.",
  rotate_failed: "Nyckeln roterades inte",
  rotation_runs: "Rotation pågår",
  rotation_starts: "Kontrollerar att alla servrar och arbetsprocesser använder den nya nyckeln.",
  rotation_waits: "Väntar på {{processes}}. Om det inte tar slut, kopiera den nya nyckelfilen till den maskinen.",
  rotation_encrypts: "Krypterar om lagrade värden: {{done}} av {{all}} klara.",
  rotation_blocked: "Vissa värden kan inte krypteras om",
  rotation_missing_one:
    "{{shown}} värde använder nyckeln {{key}}, som saknas på den server eller arbetsprocess som försökte. Kopiera filen till mappen med nycklar där.",
  rotation_missing_other:
    "{{shown}} värden använder nyckeln {{key}}, som saknas på den server eller arbetsprocess som försökte. Kopiera filen till mappen med nycklar där.",
  retire: "Avveckla",
  retire_key: "Avveckla {{key}}",
  retire_what: "Avveckla {{key}}?",
  retire_in_use: "Den kan avvecklas när dess värden har krypterats om med den aktuella nyckeln.",
  retire_secrets_more:
    "Alla servrar och arbetsprocesser raderar nyckeln, och det går inte att ångra. Behåll en kopia så länge du har säkerhetskopior av databasen från före rotationen.",
  retire_evidence_more:
    "Alla servrar och arbetsprocesser raderar den privata nyckeln, och det går inte att ångra. Bevis som den har signerat förblir giltiga.",
  retire_failed: "Nyckeln avvecklades inte",
  key_left: "Nyckeln är avvecklad men finns kvar på servern",
  key_left_more: "Ta bort {{key}} ur serverns miljövariabler eller skrivskyddade mapp.",
  revoke_signing_more:
    "Bevis som nyckeln har signerat godtas inte längre, och det går inte att ångra. Publicera sedan den nya nyckelhistoriken: headgate evidence keys.",
  revoke_reason: "Orsak",
  revoke_reason_help: "Visas för dem som kontrollerar bevis, med dagens datum.",
};

export default sv;
