/** What stands in an event or an interrupt is read as it is: a member that is missing or strange is an empty one. */
export type Told = Record<string, unknown>;

export const words = (value: unknown): string => (typeof value === "string" ? value : "");
export const figure = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);
export const record = (value: unknown): Told =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Told) : {};
/** What happened and what to do next, as sentences: the words of others often end without a full stop. */
export const sentences = (...said: string[]): string =>
  said
    .filter(Boolean)
    .map((one, at, all) => (at < all.length - 1 && !/[.!?:…]["'”’)]?$/.test(one) ? `${one}.` : one))
    .join(" ");
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const lines = (value: unknown): string[] =>
  list(value).filter((one): one is string => typeof one === "string" && one !== "");
