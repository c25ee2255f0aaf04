import { createStore, type StoreApi } from "zustand/vanilla";
import type { FlowOut, Template } from "@/api/types";
import { type Document, toDocument } from "./document";
import { createEditSlice, type EditSlice } from "./editSlice";
import { createHistorySlice, type HistorySlice } from "./historySlice";
import { createLiveSlice, type LiveSlice } from "./liveSlice";
import { createSelectionSlice, type SelectionSlice } from "./selectionSlice";
import { createSyncSlice, type SyncSlice } from "./syncSlice";

interface CoreSlice {
  flowId: string;
  spaceId: string;
  document: Document;
  /** Templates of all components by type. */
  templates: Record<string, Template>;
  /** Whether the person may change this flow. */
  editable: boolean;
  setTemplates: (templates: Template[]) => void;
  setEditable: (editable: boolean) => void;
}

/** One open flow: everything that canvas, steps, inspector, runs and assistant know of it. Stores do no HTTP. */
export type DraftState = CoreSlice & EditSlice & HistorySlice & SelectionSlice & SyncSlice & LiveSlice;
export type DraftStore = StoreApi<DraftState>;
export type SetDraft = DraftStore["setState"];
export type GetDraft = DraftStore["getState"];

export function createDraftStore(flow: FlowOut, templates: Template[], editable = true): DraftStore {
  return createStore<DraftState>((set, get) => ({
    flowId: flow.id,
    spaceId: flow.space_id,
    document: toDocument(flow.definition),
    templates: byType(templates),
    editable,
    setTemplates: (found) => set({ templates: byType(found) }),
    setEditable: (now) => set({ editable: now }),
    ...createHistorySlice(set, get),
    ...createEditSlice(set, get),
    ...createSelectionSlice(set, get),
    ...createSyncSlice(set, get, flow),
    ...createLiveSlice(set, get),
  }));
}

const byType = (templates: Template[]) => Object.fromEntries(templates.map((one) => [one.type, one]));
