/** Things that look like keys: what providers, code hosts and Headgate itself give out. */
const KEYS =
  /\b(?:sk|pk|rk)-[\w-]{12,}|\bwhsec_[\w+/=-]{8,}|\bhg_[\w-]{12,}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g;

export const HIDDEN = "[secret]";

/** A text without what looks like a key; this is what the browser keeps. */
export const redacted = (text: string): string => text.replace(KEYS, HIDDEN);

/** The same for all texts of a value. */
export const keepable = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value, (_key, one) => (typeof one === "string" ? redacted(one) : one))) as T;
