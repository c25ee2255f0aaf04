const FIELD = /^\s+(\w+)\s*:\s*(?:Annotated\[)?SecretStr\b/gm;

/** Names of the fields of a component's code that take a secret. */
export const secretsOf = (code: string): string[] => [...code.matchAll(FIELD)].map((found) => found[1] ?? "");
