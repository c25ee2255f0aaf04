/** Which kind of content the encrypted columns of a table hold. */
const KINDS = {
  approval_decisions: "approvals",
  approval_notices: "approvals",
  alert_rules: "alerts",
  approvals: "approvals",
  codev_writes: "sessions",
  connection_authorizations: "connections",
  connection_tokens: "connections",
  connections: "connections",
  data_keys: "files",
  event_waits: "events",
  sent_events: "events",
  flow_state_values: "states",
  flow_states: "states",
  flow_step_calls: "calls",
  mcp_servers: "mcp",
  model_servers: "models",
  totp_authenticators: "factors",
  trigger_occurrences: "triggers",
  triggers: "triggers",
  variables: "variables",
  webhook_deliveries: "deliveries",
} as const;

export type ValueKind = (typeof KINDS)[keyof typeof KINDS];

const ALL: ReadonlySet<string> = new Set(Object.values(KINDS));

export const isValueKind = (kind: string): kind is ValueKind => ALL.has(kind);

/** Counts by kind, of counts by `table.column`; an unknown table is its own kind. */
export function byKind(values: Record<string, number>): [string, number][] {
  const counts = new Map<string, number>();
  for (const [column, count] of Object.entries(values)) {
    const table = column.split(".")[0] ?? column;
    const kind = KINDS[table as keyof typeof KINDS] ?? column;
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  return [...counts];
}
