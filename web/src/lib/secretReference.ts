import type { components } from "@/api/schema";

type HeaderValue = NonNullable<components["schemas"]["HttpCall"]["headers"]>[string];

/** A secret by its name, in place of its value; the scheme is sent before the value. */
export type SecretReference = Exclude<HeaderValue, string>;

/** Whether a saved value refers to a secret. */
export function isSecretReference(value: unknown): value is SecretReference {
  return typeof value === "object" && value !== null && "secret" in value && typeof value.secret === "string";
}

/** The reference as it is saved: without an empty scheme. */
export function secretReference(secret: string, scheme = ""): SecretReference {
  return scheme.trim() === "" ? { secret } : { secret, scheme: scheme.trim() };
}
