import type { Flow, FlowOut } from "@/api/types";
import { type Document, toDocument, toFlow } from "./document";
import { keyOf, write } from "./members";
import { type ConflictItem, type Merge, merge, writesOf, written } from "./merge";
import { takesMany } from "./ports";
import type { GetDraft, SetDraft } from "./store";

/** `unsaved` waits for the debounce; `offline` could not be saved and is tried again; `conflict` waits for a choice. */
type SaveState = "saved" | "unsaved" | "saving" | "offline" | "conflict";

/** Why nothing can be changed here any more. */
type Closed = "deleted" | "forbidden";

/** What keeps a draft from running, as the server says it. */
export interface Issue {
  code: string;
  message: string;
  severity?: string;
  node_id?: string | null;
  field?: string | null;
  remedy?: string;
  [more: string]: unknown;
}

/** Places that somebody else changed to other things than we did. */
export interface Conflict {
  theirs: Flow;
  revision: number;
  by: string;
  items: ConflictItem[];
}

export interface SyncSlice {
  revision: number;
  publishedVersion: number | null;
  saveState: SaveState;
  /** When the server last took the draft from here or gave it, by the clock of this machine. */
  savedAt: number | null;
  /** Why the server refuses this draft; what is changed next is tried again. */
  refused: string;
  closed: Closed | null;
  /** Grows with each change made here; what autosave watches. */
  edits: number;
  /** How many of the `edits` the server has. */
  savedEdits: number;
  /** The document as the server last had it from us or told us: the base of a merge. */
  base: Document;
  issues: Issue[];
  conflict: Conflict | null;
  setSaveState: (state: SaveState) => void;
  /** The server does not take the draft, and says why and where. */
  refuse: (why: string, issues: Issue[]) => void;
  /** The server took `sent`, made after so many `edits`, and answered how it has it now. */
  saved: (sent: Document, edits: number, answer: FlowOut) => void;
  /** The server has another draft than ours was made from: take in what they changed. Tells what that was. */
  follow: (theirs: FlowOut, by: string) => Merge;
  /** Their side for the keys named, ours for the others; what is ours is saved next. */
  settle: (theirs: ReadonlySet<string>) => void;
  setPublished: (version: number | null) => void;
  close: (why: Closed) => void;
  /** Begin from what was left unsaved: the draft that it was made from, and what it had become. */
  resume: (base: Flow, mine: Flow, label: string) => Merge;
  /** How many hold the draft: while any does, autosave and live follow wait. A turn of the assistant may save it itself. */
  holds: number;
  /** Hold the draft; call the answer to let it go. */
  hold: () => () => void;
  /** Save what is not saved yet, now; whether the server has everything afterwards. Autosave puts its own in. */
  flush: () => Promise<boolean>;
  setFlush: (flush: () => Promise<boolean>) => void;
}

export function createSyncSlice(set: SetDraft, get: GetDraft, flow: FlowOut): SyncSlice {
  const takeIn = (base: Document, theirs: Document): Merge => {
    const found = merge(base, get().document, theirs, takesMany(get().templates));
    get().change({ label: "", origin: "remote" }, (draft) => {
      for (const one of found.writes) write(draft, one);
    });
    return found;
  };
  const follow = (theirs: FlowOut, by: string): Merge => {
    const document = toDocument(theirs.definition);
    const found = takeIn(get().base, document);
    const { conflicts } = found;
    const open = conflicts.length > 0;
    const saveState = open ? "conflict" : get().edits > get().savedEdits ? "unsaved" : "saved";
    set({
      ...news(theirs),
      base: open ? basedOn(document, conflicts) : document,
      conflict: open ? { theirs: theirs.definition, revision: theirs.revision, by, items: conflicts } : null,
      saveState,
    });
    return found;
  };
  return {
    revision: flow.revision,
    publishedVersion: flow.published_version,
    saveState: "saved",
    savedAt: null,
    refused: "",
    closed: null,
    edits: 0,
    savedEdits: 0,
    base: toDocument(flow.definition),
    issues: (flow.issues ?? []) as Issue[],
    conflict: null,
    setSaveState: (saveState) => set({ saveState, refused: "" }),
    refuse: (refused, issues) =>
      set(({ issues: known }) => ({ saveState: "unsaved", refused, issues: issues.length > 0 ? issues : known })),
    saved: (sent, edits, answer) => {
      const base = toDocument(answer.definition);
      // The server writes some things in a form of its own; what was changed here meanwhile stands.
      takeIn(sent, base);
      set({ ...news(answer), base, savedEdits: edits, saveState: get().edits > edits ? "unsaved" : "saved" });
    },
    follow,
    settle: (theirs) => {
      const { conflict } = get();
      if (!conflict) return;
      get().change({ label: "", origin: "remote" }, (draft) => {
        for (const item of conflict.items) {
          if (theirs.has(keyOf(item.place))) for (const one of writesOf(item)) write(draft, one);
        }
      });
      set((state) => ({
        conflict: null,
        base: toDocument(conflict.theirs),
        saveState: "unsaved",
        edits: state.edits + 1,
      }));
    },
    setPublished: (publishedVersion) => set({ publishedVersion }),
    close: (closed) => set({ closed, editable: false }),
    resume: (base, mine, label) => {
      const [before, now, wanted] = [toDocument(base), get().document, toDocument(mine)];
      const { issues, publishedVersion, revision } = get();
      const { writes } = merge(now, now, wanted, takesMany(get().templates));
      get().change({ label }, (draft) => {
        for (const one of writes) write(draft, one);
      });
      set({ base: before });
      return follow({ ...flow, definition: toFlow(now), revision, issues, published_version: publishedVersion }, "");
    },
    holds: 0,
    hold: () => {
      let held = true;
      set((state) => ({ holds: state.holds + 1 }));
      return () => {
        if (held) set((state) => ({ holds: state.holds - 1 }));
        held = false;
      };
    },
    flush: () => Promise.resolve(true),
    setFlush: (flush) => set({ flush }),
  };
}

const news = (answer: FlowOut) => ({
  revision: answer.revision,
  publishedVersion: answer.published_version,
  issues: (answer.issues ?? []) as Issue[],
  savedAt: Date.now(),
  refused: "",
});

/** Theirs, but as it was where the choice is open: so what is open is still found when they change more. */
function basedOn(theirs: Document, conflicts: ConflictItem[]): Document {
  const writes = conflicts.map(({ place, base, theirs: now }) => ({
    place,
    value: base,
    was: place.kind === "edge" ? (now as never) : undefined,
  }));
  return written(theirs, writes);
}
