import { useState } from "react";
import { readStored, removeStored, storedKeys, writeStored } from "@/lib/storage";

const keysOf = (interruptId: string) => `unsaved.develop.${interruptId}.`;

/** A part of an answer that is being written: who leaves the page, or has to sign in again, finds it as it was. */
export function useKept<T extends string | unknown[]>(interruptId: string, part: string, first: T) {
  const key = keysOf(interruptId) + part;
  const [value, setValue] = useState<T>(() => readStored(key, first));
  const set = (next: T) => {
    setValue(next);
    if (isSame(next, first)) removeStored(key);
    else writeStored(key, next);
  };
  return [value, set] as const;
}

/** Once it was answered nothing of it is kept. */
export function forgetKept(interruptId: string): void {
  for (const key of storedKeys(keysOf(interruptId))) removeStored(key);
}

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
