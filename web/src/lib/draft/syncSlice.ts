import type { Flow, FlowOut } from "@/api/types";
import { type Document, toDocument } from "./document";
import type { GetDraft, SetDraft } from "./store";

/** `unsaved` waits for the debounce; `offline` could not be saved and is tried again; `conflict` waits for a choice. */
export type SaveState = "saved" | "unsaved" | "saving" | "offline" | "conflict";

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

/** Somebody else's draft that ours cannot be merged with unasked. */
export interface Conflict {
  theirs: Flow;
  revision: number;
  by: string;
}

export interface SyncSlice {
  revision: number;
  publishedVersion: number | null;
  saveState: SaveState;
  /** Grows with each change made here; what autosave watches. */
  edits: number;
  /** The document as the server last had it from us or told us: the base of a merge. */
  base: Document;
  issues: Issue[];
  conflict: Conflict | null;
  setSaveState: (state: SaveState) => void;
  /** The server has `document` as `revision`. */
  saved: (document: Document, revision: number, issues: Issue[]) => void;
  setConflict: (conflict: Conflict | null) => void;
  setPublished: (version: number | null) => void;
  /** How many hold the draft: while any does, autosave and live follow wait. A turn of the assistant may save it itself. */
  holds: number;
  /** Hold the draft; call the answer to let it go. */
  hold: () => () => void;
  /** Save what is not saved yet, now; whether the server has everything afterwards. Autosave puts its own in. */
  flush: () => Promise<boolean>;
  setFlush: (flush: () => Promise<boolean>) => void;
}

export function createSyncSlice(set: SetDraft, _get: GetDraft, flow: FlowOut): SyncSlice {
  return {
    revision: flow.revision,
    publishedVersion: flow.published_version,
    saveState: "saved",
    edits: 0,
    base: toDocument(flow.definition),
    issues: (flow.issues ?? []) as Issue[],
    conflict: null,
    setSaveState: (saveState) => set({ saveState }),
    saved: (document, revision, issues) => set({ base: document, revision, issues }),
    setConflict: (conflict) => set({ conflict, ...(conflict ? { saveState: "conflict" as const } : {}) }),
    setPublished: (publishedVersion) => set({ publishedVersion }),
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
