/**
 * What the page remembers in this browser. Private browsing and full disks refuse: then it is remembered until the tab
 * closes, and nothing breaks.
 */
const memory = new Map<string, string>();
const PREFIX = "headgate.";

export function readStored<T>(key: string, otherwise: T): T {
  const name = PREFIX + key;
  let text = memory.get(name) ?? null;
  try {
    text = localStorage.getItem(name) ?? text;
  } catch {
    // refused: what this tab remembers stands
  }
  if (text === null) return otherwise;
  try {
    return JSON.parse(text) as T;
  } catch {
    return otherwise;
  }
}

export function writeStored(key: string, value: unknown): void {
  const text = JSON.stringify(value);
  memory.set(PREFIX + key, text);
  try {
    localStorage.setItem(PREFIX + key, text);
  } catch {
    // refused: this tab remembers it
  }
}

export function removeStored(key: string): void {
  memory.delete(PREFIX + key);
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // refused: it was never there
  }
}

/** The keys that begin so. */
export function storedKeys(start: string): string[] {
  const found = new Set([...memory.keys()]);
  try {
    for (let index = 0; index < localStorage.length; index += 1) found.add(localStorage.key(index) ?? "");
  } catch {
    // refused: what this tab remembers stands
  }
  return [...found].filter((name) => name.startsWith(PREFIX + start)).map((name) => name.slice(PREFIX.length));
}
