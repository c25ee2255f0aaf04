import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { Conversation } from "../state/conversation";
import type { AssistantState, AssistantStore } from "../state/store";

interface Held {
  store: AssistantStore;
  conversation: Conversation;
}

const AssistantContext = createContext<Held | null>(null);
export const AssistantProvider = AssistantContext.Provider;

function useHeld(): Held {
  const held = useContext(AssistantContext);
  if (!held) throw new Error("This belongs into the assistant's panel.");
  return held;
}

/** A part of what the panel knows. */
export function useAssistant<T>(selector: (state: AssistantState) => T): T {
  return useStore(useHeld().store, selector);
}

export const useAssistantStore = (): AssistantStore => useHeld().store;
export const useConversation = (): Conversation => useHeld().conversation;
