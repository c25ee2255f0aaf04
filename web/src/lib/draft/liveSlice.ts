import type { JsonValue, StepSummary } from "@/api/types";
import type { Ran } from "./staleness";
import type { GetDraft, SetDraft } from "./store";

export type StepStatus = StepSummary["status"];

/** What a node did in the run that the canvas shows. */
export interface NodeRun {
  status: StepStatus;
  ms: number | null;
  tokens: number | null;
  /** The beginning of what it gave, as text. */
  preview: string;
  error: string;
  /** Number of items of each output that is a list. */
  items?: Readonly<Record<string, number>>;
  /** How the runs that it started stand, while it waits for them. */
  progress?: string;
}

export interface LiveSlice {
  /** The run that the canvas shows on its nodes. */
  shownRun: { id: string; status: string } | null;
  nodeRuns: Record<string, NodeRun>;
  /** What that run was started from, once that is known. */
  ran: Ran | null;
  /** Outputs that stand in for running a node: node id to its outputs by name. */
  pinned: Record<string, Record<string, JsonValue>>;
  /** Nodes before which runs of the draft stop. */
  breakpoints: readonly string[];
  /** How many comments on a node are not resolved. */
  commented: Readonly<Record<string, number>>;
  showRun: (run: { id: string; status: string } | null, nodes?: Record<string, NodeRun>) => void;
  setRan: (ran: Ran) => void;
  setNodeRun: (id: string, run: Partial<NodeRun>) => void;
  pin: (id: string, outputs: Record<string, JsonValue> | null) => void;
  setBreakpoints: (ids: readonly string[]) => void;
}

const NOTHING: NodeRun = { status: "pending", ms: null, tokens: null, preview: "", error: "" };

export function createLiveSlice(set: SetDraft, _get: GetDraft): LiveSlice {
  return {
    shownRun: null,
    nodeRuns: {},
    ran: null,
    setRan: (ran) => set({ ran }),
    pinned: {},
    breakpoints: [],
    setBreakpoints: (breakpoints) => set({ breakpoints }),
    commented: {},
    showRun: (shownRun, nodes) => set((state) => ({ shownRun, nodeRuns: nodes ?? (shownRun ? state.nodeRuns : {}) })),
    setNodeRun: (id, run) =>
      set((state) => ({ nodeRuns: { ...state.nodeRuns, [id]: { ...NOTHING, ...state.nodeRuns[id], ...run } } })),
    pin: (id, outputs) =>
      set((state) => {
        const pinned = { ...state.pinned };
        if (outputs === null) delete pinned[id];
        else pinned[id] = outputs;
        return { pinned };
      }),
  };
}
