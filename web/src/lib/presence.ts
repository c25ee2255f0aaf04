import { create } from "zustand";

export interface Reader {
  userId: string;
  name: string;
  /** When it was announced last, in milliseconds. */
  at: number;
}

const EXPIRES_MS = 30_000;

interface Presence {
  /** By the id of the stream: somebody who has the flow open twice is there twice. */
  readers: Readonly<Record<string, Reader>>;
}

/** Who has the flow open that is open here. */
export const usePresence = create<Presence>(() => ({ readers: {} }));

interface Announced {
  reader?: unknown;
  by?: { user_id?: unknown; name?: unknown } | undefined;
}

/** An announcement of the flow's stream: somebody is there (`present`) or not any more (`left`). */
export function announced(kind: string, { reader, by }: Announced, now = Date.now()): void {
  if (typeof reader !== "string") return;
  usePresence.setState(({ readers }) => {
    const { [reader]: _before, ...others } = readers;
    const left = Object.fromEntries(Object.entries(others).filter(([, one]) => now - one.at < EXPIRES_MS));
    if (kind === "left") return { readers: left };
    return {
      readers: { ...left, [reader]: { userId: String(by?.user_id ?? ""), name: String(by?.name ?? ""), at: now } },
    };
  });
}

/** The other users who are there, each once, by name. */
export function othersThere(readers: Presence["readers"], me: string | undefined, now = Date.now()): Reader[] {
  const users = new Map<string, Reader>();
  for (const one of Object.values(readers)) {
    if (one.userId && one.userId !== me && now - one.at < EXPIRES_MS) users.set(one.userId, one);
  }
  return [...users.values()].sort((one, other) => one.name.localeCompare(other.name));
}
