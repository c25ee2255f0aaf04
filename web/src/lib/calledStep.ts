import { create } from "zustand";

/** A step of the flow that a node runs, chosen in the frame of that node. */
export interface CalledStep {
  /** The open flow, and its node. */
  caller: string;
  nodeId: string;
  /** The flow that the node runs. */
  flowId: string;
  stepId: string;
}

interface Chosen {
  step: CalledStep | null;
  choose: (step: CalledStep | null) => void;
}

/** The step whose settings stand in place of those of the node that runs its flow. */
export const useCalledStep = create<Chosen>((set) => ({ step: null, choose: (step) => set({ step }) }));
