import type { GetDraft, SetDraft } from "./store";

export interface SelectionSlice {
  selectedNodes: string[];
  selectedEdges: string[];
  /** A node that views are asked to bring into sight; `at` makes a second request for the same node a new one. */
  focus: { id: string; at: number } | null;
  select: (nodes: string[], edges?: string[]) => void;
  clearSelection: () => void;
  focusNode: (id: string) => void;
}

export function createSelectionSlice(set: SetDraft, _get: GetDraft): SelectionSlice {
  return {
    selectedNodes: [],
    selectedEdges: [],
    focus: null,
    select: (nodes, edges = []) => set({ selectedNodes: nodes, selectedEdges: edges }),
    clearSelection: () => set({ selectedNodes: [], selectedEdges: [] }),
    focusNode: (id) => set({ focus: { id, at: Date.now() }, selectedNodes: [id], selectedEdges: [] }),
  };
}
