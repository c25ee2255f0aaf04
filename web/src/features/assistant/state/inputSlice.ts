import { pageMetrics } from "@/lib/pageMetrics";
import { redacted } from "@/lib/redacted";
import { readStored, writeStored } from "@/lib/storage";
import { emptyHistory, type InputHistory, newer, older, pushed } from "../model/history";
import type { GetAssistant, SetAssistant } from "./store";

export interface InputSlice {
  /** What somebody is writing. */
  text: string;
  history: InputHistory;
  setText: (text: string) => void;
  /** Recall what was sent before; whether there was anything. */
  recall: (way: "older" | "newer") => boolean;
  /** What was sent goes into the history, and the field is empty. */
  sent: (text: string) => void;
}

const KEY = "assistant.history";

export function createInputSlice(set: SetAssistant, get: GetAssistant): InputSlice {
  return {
    text: "",
    history: emptyHistory(stored()),
    setText: (text) => set({ text }),
    recall: (way) => {
      const { history, text } = get();
      const found = way === "older" ? older(history, text) : newer(history);
      if (!found) return false;
      pageMetrics.count("input_history_recall");
      set({ history: found.history, text: found.text });
      return true;
    },
    sent: (text) => {
      const history = pushed(get().history, redacted(text));
      writeStored(KEY, history.entries);
      set({ history, text: "" });
    },
  };
}

function stored(): string[] {
  const found = readStored<unknown>(KEY, []);
  return Array.isArray(found) ? found.filter((one): one is string => typeof one === "string") : [];
}
