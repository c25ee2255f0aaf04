/**
 * What the page remembers in this browser. Private browsing and full disks refuse: then it is remembered until the tab
 * closes, and nothing breaks.
 */
const memory = new Map<string, string>();
const PREFIX = "headgate.";
/** What is of one person: conversations, drafts that were left, chats, pinned outputs, breakpoints, open steps, what was asked. */
const PERSONAL = /^(?:assistant|unsaved|pins|breakpoints|chat|palette|regions)\./;
/** What was written for the development agent and not sent: gone with whoever signs out. */
export const UNSENT = "unsaved.develop";
let person = "";

/** Whose things are read and written from now on; empty where there is only one person. */
export function setStoragePerson(id: string): void {
  person = id;
}

const nameOf = (key: string) => PREFIX + (person && PERSONAL.test(key) ? `of.${person}.` : "") + key;

export function readStored<T>(key: string, otherwise: T): T {
  const name = nameOf(key);
  let text = memory.get(name) ?? null;
  try {
    text = localStorage.getItem(name) ?? text;
  } catch {
    // refused: what this tab remembers stands
  }
  if (text === null) return otherwise;
  try {
    const found: unknown = JSON.parse(text);
    return otherwise === null || kindOf(found) === kindOf(otherwise) ? (found as T) : otherwise;
  } catch {
    return otherwise;
  }
}

/** Anything may stand in a browser's storage: what is of another kind is as if nothing stood there. */
const kindOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

export function writeStored(key: string, value: unknown): void {
  const text = JSON.stringify(value);
  const name = nameOf(key);
  memory.set(name, text);
  try {
    localStorage.setItem(name, text);
  } catch {
    // refused: this tab remembers it
  }
}

export function removeStored(key: string): void {
  const name = nameOf(key);
  memory.delete(name);
  try {
    localStorage.removeItem(name);
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
  const before = nameOf(start).length - start.length;
  return [...found].filter((name) => name.startsWith(nameOf(start))).map((name) => name.slice(before));
}

/** Forget what begins so, of whoever is here. */
export function forgetStored(start: string): void {
  for (const key of storedKeys(start)) removeStored(key);
}
