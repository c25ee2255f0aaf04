import { createStore, type StoreApi } from "zustand/vanilla";
import type { Template } from "@/api/types";
import { createInputSlice, type InputSlice } from "./inputSlice";
import { createSessionSlice, type SessionSlice } from "./sessionSlice";
import { createTurnSlice, type TurnSlice } from "./turnSlice";

interface AboutSlice {
  flowId: string;
  /** Templates as they are now, to know which values are secrets. */
  templates: () => Record<string, Template>;
}

/** All that the assistant's panel knows about one open flow. It does no HTTP and touches no canvas. */
export type AssistantState = AboutSlice & SessionSlice & TurnSlice & InputSlice;
export type AssistantStore = StoreApi<AssistantState>;
export type SetAssistant = AssistantStore["setState"];
export type GetAssistant = AssistantStore["getState"];

export function createAssistantStore(flowId: string, templates: () => Record<string, Template>): AssistantStore {
  return createStore<AssistantState>((set, get) => ({
    flowId,
    templates,
    ...createSessionSlice(set, get, flowId),
    ...createTurnSlice(set, get),
    ...createInputSlice(set, get),
  }));
}
