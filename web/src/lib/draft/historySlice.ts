import { create } from "mutative";
import type { Document } from "./document";
import { write } from "./members";
import { merge } from "./merge";
import { takesMany } from "./ports";
import type { GetDraft, SetDraft } from "./store";

export type Origin = "user" | "assistant" | "remote";

/** One thing that can be taken back: the document before and after, which share all that it left alone. */
export interface Entry {
  label: string;
  origin: Origin;
  before: Document;
  after: Document;
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

/** What was taken back or done again; `kept` counts the places that others changed since, which stay as they are. */
export interface Travelled extends Entry {
  kept: number;
}

export interface HistorySlice {
  past: Entry[];
  future: Entry[];
  /** The only door through which the document changes. Answers whether anything did. */
  change: (options: ChangeOptions, recipe: (draft: Document) => void) => boolean;
  undo: () => Travelled | null;
  redo: () => Travelled | null;
}

const MOST = 200;
const MERGE_MS = 1500;

export function createHistorySlice(set: SetDraft, get: GetDraft): HistorySlice {
  return {
    past: [],
    future: [],
    change: (options, recipe) => {
      const { label, origin = "user", merge: key } = options;
      const before = get().document;
      if (!get().editable && origin !== "remote") return false;
      const after = create(before, recipe);
      if (after === before) return false;
      // What others did is followed, not taken back: their change is theirs to undo.
      if (origin === "remote") {
        set({ document: after });
        return true;
      }
      const entry: Entry = { label, origin, before, after, merge: key, at: Date.now() };
      set((state) => ({ document: after, past: joined(state.past, entry), future: [], edits: state.edits + 1 }));
      return true;
    },
    undo: () => travel(set, get, "past"),
    redo: () => travel(set, get, "future"),
  };
}

function joined(past: Entry[], entry: Entry): Entry[] {
  const last = past.at(-1);
  // A turn of the assistant is one step however long it takes; a person's typing only while it goes on.
  const together = entry.origin === "assistant" || (last !== undefined && entry.at - last.at < MERGE_MS);
  // Where somebody else's change came in between, the two are not one: what is between them is not ours.
  if (last && entry.merge && last.merge === entry.merge && last.after === entry.before && together) {
    return [...past.slice(0, -1), { ...entry, before: last.before }];
  }
  return [...past, entry].slice(-MOST);
}

/** One step back or on, as a merge with what others did since: theirs stays. */
function travel(set: SetDraft, get: GetDraft, from: "past" | "future"): Travelled | null {
  const { editable, document, templates } = get();
  const entry = get()[from].at(-1);
  if (!entry || !editable) return null;
  const back = from === "past";
  const [here, there] = back ? [entry.after, entry.before] : [entry.before, entry.after];
  const found = document === here ? null : merge(here, document, there, takesMany(templates));
  const next = found
    ? create(document, (draft) => {
        for (const one of found.writes) write(draft, one);
      })
    : there;
  set((state) => ({
    document: next,
    past: back ? state.past.slice(0, -1) : [...state.past, entry],
    future: back ? [...state.future, entry] : state.future.slice(0, -1),
    edits: next === document ? state.edits : state.edits + 1,
  }));
  return { ...entry, kept: found?.conflicts.length ?? 0 };
}
