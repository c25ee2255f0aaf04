import { useState } from "react";
import { keepable } from "@/lib/redacted";
import { forgetStored, readStored, removeStored, writeStored } from "@/lib/storage";

const keysOf = (interruptId: string) => `unsaved.develop.${interruptId}.`;

/** A part of an answer that is being written: who leaves the page, or has to sign in again, finds it as it was. */
export function useKept<T extends string | unknown[]>(interruptId: string, part: string, first: T) {
  const key = keysOf(interruptId) + part;
  const [value, setValue] = useState<T>(() => readStored(key, first));
  const set = (next: T) => {
    setValue(next);
    if (isSame(next, first)) removeStored(key);
    else writeStored(key, keepable(next));
  };
  return [value, set] as const;
}

/** Once it was answered, or is asked no more, nothing of it is kept. */
export const forgetKept = (interruptId: string): void => forgetStored(keysOf(interruptId));

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
