import type { JsonValue } from "@/api/types";
import { isSecretReference, secretReference } from "@/lib/secretReference";

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

/** The name of the secret that is the model's key; empty where the provider's own key is used. */
export function modelKey(value: JsonValue | undefined): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const { api_key: key } = value as { [member: string]: JsonValue };
  return isSecretReference(key) ? key.secret : "";
}

/** The value with another key, or with none for an empty name. */
export function withKey(value: JsonValue | undefined, secret: string): JsonValue {
  const now = modelName(value);
  if (!now) return value ?? null;
  const { api_key: _, ...rest } = typeof value === "object" ? (value as { [member: string]: JsonValue }) : { ...now };
  if (secret !== "") return { ...rest, api_key: { ...secretReference(secret) } };
  return Object.keys(rest).length > 2 ? rest : `${now.provider}/${now.name}`;
}

/** The models that are asked when this one cannot answer, in their order. */
export function fallbacksOf(value: JsonValue | undefined): JsonValue[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { fallback } = value as { [member: string]: JsonValue };
  return Array.isArray(fallback) ? fallback : [];
}

/** The value with other fallback models, or with none for an empty list. */
export function withFallbacks(value: JsonValue | undefined, models: readonly JsonValue[]): JsonValue {
  const now = modelName(value);
  if (!now) return value ?? null;
  const { fallback: _, ...rest } = typeof value === "object" ? (value as { [member: string]: JsonValue }) : { ...now };
  if (models.length > 0) return { ...rest, fallback: [...models] };
  return Object.keys(rest).length > 2 ? rest : `${now.provider}/${now.name}`;
}
