import type { AuditEntry } from "@/api/queries/audit";
import type { SettingsText } from "../texts";
import actions from "../texts/en.actions";
import people from "../texts/en.people";

type Say = (text: SettingsText, values?: Record<string, string>) => string;
const STORED_WITH = {
  model_server: "values_of_model_server",
  mcp_server: "values_of_mcp_server",
  connection: "values_of_connection",
} as const;

/** The text for an action of the log; nothing for one that this page does not know. */
export function textOf(action: string): SettingsText | null {
  const key = `did_${action.replace(".", "_")}`;
  return Object.hasOwn(actions, key) ? (key as SettingsText) : null;
}

/** An action that has no text, as well as its code can be read: `space.moved_on` is "Space moved on". */
export function spelledOut(action: string): string {
  const words = action.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What an entry is about. Values that are stored with a server are named `mcp_server:NAME`. */
export function nameOf({ name, id }: AuditEntry["resource"], t: Say): string {
  const [kind = "", ...rest] = id.split(":");
  if (rest.length === 0 || !Object.hasOwn(STORED_WITH, kind)) return name || id;
  return t(STORED_WITH[kind as keyof typeof STORED_WITH], { name: rest.join(":") });
}

/** What a secret was read for; nothing for other entries. */
export function purposeOf({ action, payload }: Pick<AuditEntry, "action" | "payload">): SettingsText | null {
  if (action !== "variable.read" || payload === null || typeof payload !== "object") return null;
  const purpose = "run_id" in payload ? "run" : "purpose" in payload ? payload.purpose : "";
  const key = `read_for_${purpose}`;
  return Object.hasOwn(people, key) ? (key as SettingsText) : null;
}
