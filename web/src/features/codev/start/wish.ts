import { redacted } from "@/lib/redacted";
import { readStored, removeStored, writeStored } from "@/lib/storage";

const KEY = "unsaved.develop";

/** What was written and not started yet: who goes to add a server, or has to sign in again, finds it as it was. */
export const keptWish = (): string => readStored(KEY, "");

export const keepWish = (wish: string): void => (wish.trim() ? writeStored(KEY, redacted(wish)) : removeStored(KEY));
