import type { JsonValue } from "@/api/types";

export interface ModelName {
  provider: string;
  name: string;
}

/** The model that a field's value names; null where it is known only when the step runs. */
export function modelName(value: JsonValue | undefined): ModelName | null {
  if (typeof value === "string") {
    const cut = value.indexOf("/");
    if (cut < 1 || value.includes("{{")) return null;
    return { provider: value.slice(0, cut), name: value.slice(cut + 1) };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { provider, name } = value as { [member: string]: JsonValue };
  return typeof provider === "string" && typeof name === "string" ? { provider, name } : null;
}

/** The value with another model in it: what was set beside its name stays. */
export function withModel(value: JsonValue | undefined, { provider, name }: ModelName): JsonValue {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${provider}/${name}`;
  return { ...value, provider, name };
}
