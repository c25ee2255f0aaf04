import { createContext, useContext } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { DraftState, DraftStore } from "./store";

const DraftContext = createContext<DraftStore | null>(null);

export const DraftProvider = DraftContext.Provider;

/** The open flow's store itself, for handlers that read it when they act. */
export function useDraftStore(): DraftStore {
  const store = useContext(DraftContext);
  if (!store) throw new Error("No flow is open here: this needs a DraftProvider around it.");
  return store;
}

/** The space of the open flow, which it never leaves; undefined where no flow is open. */
export function useFlowSpace(): string | undefined {
  return useContext(DraftContext)?.getState().spaceId;
}

/** A part of the open flow; the component is drawn again when that part changes. Several members: `useDraftParts`. */
export function useDraft<T>(selector: (state: DraftState) => T): T {
  return useStore(useDraftStore(), selector);
}

/** Several parts as a new object or array, compared member by member. */
export function useDraftParts<T>(selector: (state: DraftState) => T): T {
  return useStore(useDraftStore(), useShallow(selector));
}
