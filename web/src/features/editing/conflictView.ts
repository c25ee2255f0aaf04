import { create } from "zustand";

/** Whether the two sides of a conflict are being looked at. */
export const useConflictView = create<{ open: boolean }>(() => ({ open: false }));
