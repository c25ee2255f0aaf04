/** A word of the address; numbers are read as such by the router. */
export const text = (value: unknown): string | undefined =>
  typeof value === "number" ? String(value) : typeof value === "string" && value ? value : undefined;

/** The words of an address that a page reads, by name. */
export const words =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, text(search[name])])) as { [Key in Name]?: string | undefined };
