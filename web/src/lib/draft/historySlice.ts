import { apply, type Patches } from "mutative";
import type { Document } from "./document";
import { changed, type GetDraft, type SetDraft } from "./store";

export type Origin = "user" | "assistant" | "remote";

/** One thing that can be taken back. */
export interface Entry {
  label: string;
  origin: Origin;
  patches: Patches<true>;
  inverse: Patches<true>;
  /** Changes in quick succession with the same key are one entry (a text being typed, a node being dragged). */
  merge: string | undefined;
  at: number;
}

export interface ChangeOptions {
  /** What was done, in words of the person: shown in the history and in "Undo …". */
  label: string;
  origin?: Origin;
  merge?: string;
}

export interface HistorySlice {
  past: Entry[];
  future: Entry[];
  /** The only door through which the document changes. Answers whether anything did. */
  change: (options: ChangeOptions, recipe: (draft: Document) => void) => boolean;
  undo: () => Entry | null;
  redo: () => Entry | null;
}

const MOST = 200;
const MERGE_MS = 1500;

export function createHistorySlice(set: SetDraft, get: GetDraft): HistorySlice {
  return {
    past: [],
    future: [],
    change: (options, recipe) => {
      const { next, patches, inverse } = changed(get().document, recipe);
      if (patches.length === 0) return false;
      const { label, origin = "user", merge } = options;
      const entry: Entry = { label, origin, patches, inverse, merge, at: Date.now() };
      set((state) => ({
        document: next,
        // What others did is followed, not taken back: their change is theirs to undo.
        past: origin === "remote" ? state.past : joined(state.past, entry),
        future: origin === "remote" ? state.future : [],
        edits: origin === "remote" ? state.edits : state.edits + 1,
      }));
      return true;
    },
    undo: () => step(set, get, "past"),
    redo: () => step(set, get, "future"),
  };
}

function joined(past: Entry[], entry: Entry): Entry[] {
  const last = past.at(-1);
  // A turn of the assistant is one step however long it takes; a person's typing only while it goes on.
  const together = entry.origin === "assistant" || (last !== undefined && entry.at - last.at < MERGE_MS);
  if (last && entry.merge && last.merge === entry.merge && together) {
    const both = {
      ...entry,
      patches: [...last.patches, ...entry.patches],
      inverse: [...entry.inverse, ...last.inverse],
    };
    return [...past.slice(0, -1), both];
  }
  return [...past, entry].slice(-MOST);
}

function step(set: SetDraft, get: GetDraft, from: "past" | "future"): Entry | null {
  const entry = get()[from].at(-1);
  if (!entry) return null;
  const back = from === "past";
  const next = applied(get().document, back ? entry.inverse : entry.patches);
  set((state) => ({
    document: next ?? state.document,
    past: back ? state.past.slice(0, -1) : [...state.past, entry],
    future: back ? [...state.future, entry] : state.future.slice(0, -1),
    edits: next ? state.edits + 1 : state.edits,
  }));
  return entry;
}

/** Patches on a document that others may have changed since; null where what they change is gone. */
function applied(document: Document, patches: Patches<true>): Document | null {
  try {
    return apply(document, patches);
  } catch {
    return null;
  }
}
