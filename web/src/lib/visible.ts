/**
 * Characters that are not seen or reorder what is: controls except tab and line breaks, bidirectional embeddings,
 * overrides and isolates, invisible operators and tags. Marks and joiners that right-to-left and Indic scripts and
 * emoji need are no part of them.
 */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** A text with its hidden characters by their code points, so that a reviewer sees what is sent: `[U+202E]`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    return `[U+${code.padStart(4, "0")}]`;
  });
}

/** A JSON value with every text in it as `visible` writes it, names of members too. */
export function visibleValue(value: unknown): unknown {
  if (typeof value === "string") return visible(value);
  if (Array.isArray(value)) return value.map(visibleValue);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [visible(name), visibleValue(member)]));
}
