export { DraftProvider, useDraft, useDraftParts, useDraftStore, useFlowSpace } from "./context";
export { type Document, edgeId, freeId, toDocument, toFlow } from "./document";
export { emptyNode } from "./emptyNode";
export type { Entry, Origin, Travelled } from "./historySlice";
export type { NodeRun, StepStatus } from "./liveSlice";
export { keyOf as placeKey, type Place, same } from "./members";
export { type ConflictItem, type Merge, merge } from "./merge";
export { createDraftStore, type DraftState, type DraftStore } from "./store";
export type { Closed, Conflict, Issue, SaveState } from "./syncSlice";
