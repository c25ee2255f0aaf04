import { create } from "zustand";
import { readStored, writeStored } from "./storage";

export type Panel = "assistant" | "run" | "inspector" | "flow" | "palette";

/** Who can stand in the column beside the flow: one at a time. The inspector shows a node, or the flow itself. */
export type Tenant = "assistant" | "run" | "inspector";

interface Panels {
  open: Record<Panel, boolean>;
  /** Whoever was asked for last is last. */
  order: readonly Tenant[];
  /** Whether the assistant stands in the column rather than floating. */
  docked: boolean;
  /** How much of the window the column takes on the right, in pixels. */
  taken: number;
  /** How much of the flow's height a sheet covers from below, 0 to 1. */
  sheet: number;
  /** Where the floating assistant begins, in pixels of the window; null where nothing floats. */
  floatsFrom: number | null;
  setOpen: (panel: Panel, open: boolean) => void;
  /** Make a panel ready without putting it before the one that is shown. */
  offer: (panel: Panel) => void;
  toggle: (panel: Panel) => void;
  setDocked: (docked: boolean) => void;
  setTaken: (taken: number, sheet: number) => void;
  /** What this person chose before. */
  remember: () => void;
  /** Another flow: nothing of the last one's stands beside it. */
  leave: () => void;
}

const DOCKED = "assistant.docked";
const tenantOf = (panel: Panel): Tenant | null => (panel === "flow" ? "inspector" : panel === "palette" ? null : panel);
const asked = (order: readonly Tenant[], tenant: Tenant | null): readonly Tenant[] =>
  tenant ? [...order.filter((one) => one !== tenant), tenant] : order;

/** Which panels of an open flow are there. Any feature may open another's, without knowing it. */
export const usePanels = create<Panels>((set, get) => ({
  open: { assistant: false, run: false, inspector: false, flow: false, palette: true },
  order: ["inspector", "run", "assistant"],
  docked: true,
  taken: 0,
  sheet: 0,
  floatsFrom: null,
  setOpen: (panel, open) =>
    set((state) => ({
      open: { ...state.open, [panel]: open, ...(panel === "inspector" && !open ? { flow: false } : {}) },
      order: open ? asked(state.order, tenantOf(panel)) : state.order,
    })),
  offer: (panel) => set((state) => ({ open: { ...state.open, [panel]: true } })),
  toggle: (panel) => get().setOpen(panel, !get().open[panel]),
  setDocked: (docked) => {
    writeStored(DOCKED, docked);
    set((state) => ({ docked, order: asked(state.order, "assistant") }));
  },
  setTaken: (taken, sheet) => set({ taken, sheet }),
  remember: () => set({ docked: readStored(DOCKED, true) }),
  leave: () => set((state) => ({ open: { ...state.open, run: false, inspector: false, flow: false } })),
}));

/** Those of the column that are open, whoever was asked for last last. */
export function inColumn({ open, order, docked }: Panels, chosen: boolean, narrow: boolean): Tenant[] {
  const there: Record<Tenant, boolean> = {
    inspector: open.flow || (open.inspector && chosen),
    run: open.run,
    assistant: open.assistant && (docked || narrow),
  };
  return order.filter((one) => there[one]);
}
