import { create } from "zustand";

interface RunRequest {
  /**
   * The whole flow; the whole flow if it asks for nothing, else its form is shown; one node with the steps before it;
   * or a node and all steps after it.
   */
  kind: "flow" | "ready" | "node" | "from";
  nodeId?: string;
  at: number;
}

interface Requests {
  run: RunRequest | null;
  /** Something to be asked of the assistant: its panel opens with it; `send` sends it at once. */
  ask: { text: string; send: boolean; at: number } | null;
  requestRun: (kind: RunRequest["kind"], nodeId?: string) => void;
  requestAsk: (text: string, send?: boolean) => void;
  /** What the page itself is about to put into an address to be sent. Anybody can write an address: others only fill in. */
  announced: string | null;
  announceAsk: (text: string) => void;
}

/** What one feature asks of another that it does not know. The one that is asked puts it back to null. */
export const useRequests = create<Requests>((set) => ({
  run: null,
  ask: null,
  requestRun: (kind, nodeId) => set({ run: { kind, at: Date.now(), ...(nodeId ? { nodeId } : {}) } }),
  requestAsk: (text, send = false) => set({ ask: { text, send, at: Date.now() } }),
  announced: null,
  announceAsk: (announced) => set({ announced }),
}));
