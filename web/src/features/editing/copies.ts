import type { Flow } from "@/api/types";
import { readStored, removeStored, storedKeys, writeStored } from "@/lib/storage";

/** What a tab had not saved: what it had become, of what it was made, and when. */
export interface UnsavedCopy {
  tab: string;
  at: number;
  revision: number;
  base: Flow;
  mine: Flow;
}

/** A tab that shows this sign of life no more is gone, and what it left may be offered elsewhere. */
export const GONE_MS = 9000;
export const ALIVE_MS = 3000;

const keyOf = (flowId: string, tab: string) => `unsaved.${flowId}.${tab}`;
const aliveKey = (tab: string) => `alive.${tab}`;

/** The name of this tab: a reload keeps it, another tab has another. */
export function tabName(): string {
  const key = "headgate.tab";
  const fresh = Math.random().toString(36).slice(2, 10);
  try {
    const known = sessionStorage.getItem(key);
    if (known) return known;
    sessionStorage.setItem(key, fresh);
  } catch {
    // refused: this page has a name as long as it stands
  }
  return fresh;
}

/** What one tab keeps in this browser of one flow until the server has it. */
export function unsavedCopies(flowId: string, tab: string) {
  return {
    keep: (copy: Omit<UnsavedCopy, "tab" | "at">) => {
      writeStored(keyOf(flowId, tab), { ...copy, tab, at: Date.now() });
      writeStored(aliveKey(tab), Date.now());
    },
    alive: () => writeStored(aliveKey(tab), Date.now()),
    forget: (of = tab) => {
      removeStored(keyOf(flowId, of));
      removeStored(aliveKey(of));
    },
    /** What was left here: by this tab before it was loaded again, or by tabs that are gone; the newest. */
    left: (now = Date.now()): UnsavedCopy | null => {
      const found = storedKeys(`unsaved.${flowId}.`)
        .map((key) => readStored<UnsavedCopy | null>(key, null))
        .filter((copy): copy is UnsavedCopy => Boolean(copy?.mine && copy.base && copy.tab))
        .filter((copy) => copy.tab === tab || now - readStored(aliveKey(copy.tab), 0) > GONE_MS);
      return found.sort((one, other) => other.at - one.at)[0] ?? null;
    },
  };
}

export type UnsavedCopies = ReturnType<typeof unsavedCopies>;
