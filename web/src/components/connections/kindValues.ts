import type { Connection, ConnectionKind, KindField } from "@/api/queries/connections";
import type { components } from "@/api/schema";

export type Outside = components["schemas"]["OutsideValue"];
export type Secret = string | Outside;

/** What is entered for a connection: texts as they are typed, and secrets. */
export interface Entered {
  name: string;
  personal: boolean;
  expires: string;
  /** Steps at the same time, as typed; empty: any number. */
  most: string;
  fields: Record<string, string>;
  secrets: Record<string, Secret>;
}

export const isSecret = (field: KindField) => field.type === "secret" || field.type === "multiline_secret";

/** What a dialog begins with: the defaults of a kind, or a connection as it is. */
export function begin(kind: ConnectionKind, connection?: Connection): Entered {
  const values: Record<string, unknown> = connection?.fields ?? {};
  return {
    name: connection?.name ?? "",
    personal: connection ? connection.owner_id !== null : false,
    expires: connection?.expires_at?.slice(0, 10) ?? "",
    most: connection?.max_concurrent == null ? "" : String(connection.max_concurrent),
    fields: Object.fromEntries(
      kind.fields
        .filter((field) => !isSecret(field))
        .map((field) => [field.name, shown(values[field.name] ?? field.default)]),
    ),
    secrets: {},
  };
}

/** The port at which each system of a database usually listens. */
const PORTS: Record<string, string> = { postgresql: "5432", mysql: "3306", mariadb: "3306", sqlserver: "1433" };

/** The fields with another value; with another database system, its usual port instead of that of the one before. */
export function changed(fields: Entered["fields"], name: string, value: string): Entered["fields"] {
  const usual = name === "dialect" && fields.port === PORTS[fields.dialect ?? ""] ? PORTS[value] : undefined;
  return { ...fields, [name]: value, ...(usual ? { port: usual } : {}) };
}

const shown = (value: unknown) =>
  Array.isArray(value) ? value.join("\n") : value === null || value === undefined ? "" : String(value);

/** The fields as the server takes them. */
export function fieldsOf(kind: ConnectionKind, entered: Entered): Record<string, string | number | boolean | string[]> {
  const pairs = kind.fields
    .filter((field) => !isSecret(field) && (entered.fields[field.name] ?? "").trim() !== "")
    .map((field) => [field.name, typed(field, (entered.fields[field.name] ?? "").trim())] as const);
  return Object.fromEntries(pairs);
}

function typed(field: KindField, text: string) {
  if (field.type === "number") return Number(text);
  if (field.type === "boolean") return text === "true";
  if (field.type === "hosts") return text.split(/[\s,]+/).filter(Boolean);
  return text;
}

/** The secrets that were entered. */
export function secretsOf(entered: Entered): Record<string, Secret> {
  const given = Object.entries(entered.secrets).filter(([, value]) =>
    typeof value === "string" ? value !== "" : value.path.trim() !== "",
  );
  return Object.fromEntries(given);
}

/** Whether everything that is required was entered; a stored secret need not be entered again. */
export function isComplete(kind: ConnectionKind, entered: Entered, stored: readonly string[]): boolean {
  if (!/^[a-z][a-z0-9_-]{0,63}$/.test(entered.name)) return false;
  if (mostOf(entered.most) === undefined) return false;
  const secrets = secretsOf(entered);
  return kind.fields.every((field) => {
    if (!field.required) return true;
    if (isSecret(field)) return field.name in secrets || stored.includes(field.name);
    return (entered.fields[field.name] ?? "").trim() !== "";
  });
}

/** The limit of steps at the same time; null: any number; undefined: it is none. */
export function mostOf(text: string): number | null | undefined {
  const plain = text.trim();
  if (plain === "") return null;
  return /^[1-9]\d{0,5}$/.test(plain) && Number(plain) <= 100_000 ? Number(plain) : undefined;
}

/** The end of a day, as the server takes it. */
export const endOf = (day: string) => (day === "" ? null : new Date(`${day}T23:59:59`).toISOString());
