export { DraftProvider, useDraft, useDraftParts, useDraftStore } from "./context";
export { type Document, edgeId, freeId, toDocument, toFlow } from "./document";
export { emptyNode } from "./emptyNode";
export type { Entry, Origin } from "./historySlice";
export type { NodeRun, StepStatus } from "./liveSlice";
export { createDraftStore, type DraftState, type DraftStore } from "./store";
export type { Conflict, Issue, SaveState } from "./syncSlice";
