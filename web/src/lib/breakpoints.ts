import type { DraftState } from "@/lib/draft";
import { configures, outputType } from "@/lib/wiring";

type State = Pick<DraftState, "document" | "templates" | "breakpoints" | "setBreakpoints">;

/** Whether a run can stop before a node: it is a step, not a note, a group, or a model or tool of a step. */
export function breakable({ document, templates }: Pick<State, "document" | "templates">, id: string): boolean {
  const template = templates[document.nodes[id]?.type ?? ""];
  if (!template || template.annotation) return false;
  return !Object.values(document.edges).some(
    ({ source, output }) => source === id && configures(outputType(template, output)),
  );
}

/** Set or remove a breakpoint. */
export function toggleBreakpoint(state: State, id: string): void {
  const { breakpoints } = state;
  state.setBreakpoints(breakpoints.includes(id) ? breakpoints.filter((other) => other !== id) : [...breakpoints, id]);
}

/** The breakpoints that a run of the draft has. */
export const breakpointsOf = (state: State): string[] => state.breakpoints.filter((id) => breakable(state, id));

/** Breakpoints from a browser's storage, which may hold anything. */
export const asBreakpoints = (stored: unknown): string[] =>
  Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
