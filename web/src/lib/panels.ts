import { create } from "zustand";

export type Panel = "assistant" | "run" | "inspector" | "palette";

interface Panels {
  open: Record<Panel, boolean>;
  setOpen: (panel: Panel, open: boolean) => void;
  toggle: (panel: Panel) => void;
}

/** Which panels of an open flow are there. Any feature may open another's, without knowing it. */
export const usePanels = create<Panels>((set) => ({
  open: { assistant: false, run: false, inspector: true, palette: true },
  setOpen: (panel, open) => set((state) => ({ open: { ...state.open, [panel]: open } })),
  toggle: (panel) => set((state) => ({ open: { ...state.open, [panel]: !state.open[panel] } })),
}));
