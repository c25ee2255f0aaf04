/** One `{{path.to.value}}` in a text; the server's rule (graph/interpolate.py). */
export interface Reference {
  path: string[];
  start: number;
  end: number;
}

const REFERENCE = /\{\{\s*([^\s{}.]+(?:\.[^\s{}.]+)*)\s*\}\}/gu;

export function references(text: string): Reference[] {
  if (!text.includes("{{")) return [];
  return [...text.matchAll(REFERENCE)].map((found) => ({
    path: (found[1] ?? "").split("."),
    start: found.index,
    end: found.index + found[0].length,
  }));
}

/** Put a reference where the cursor stands; a `{{` that was begun before it is taken over. */
export function insertReference(text: string, from: number, to: number, path: string): { text: string; at: number } {
  const begun = text.slice(0, from).match(/\{\{\s*[^\s{}]*$/u);
  const start = begun ? (begun.index ?? from) : from;
  const behind = text.slice(to);
  const rest = begun && behind.startsWith("}}") ? behind.slice(2) : behind;
  const written = `{{${path}}}`;
  return { text: text.slice(0, start) + written + rest, at: start + written.length };
}
