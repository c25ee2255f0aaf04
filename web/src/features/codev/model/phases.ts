import type { Entry } from "./history";
import type { LiveSession } from "./session";

const PHASES = [
  "clarify",
  "discover",
  "check_credentials",
  "plan",
  "approve_plan",
  "patch",
  "test",
  "converge",
  "review",
] as const;
export type Phase = (typeof PHASES)[number];
export type PhaseState = "done" | "current" | "waiting" | "failed" | "stopped" | "todo";

/** The phase in which each thing is asked. */
const ASKED_IN: Record<string, Phase> = {
  clarification: "clarify",
  credential_check: "check_credentials",
  plan_approval: "approve_plan",
  result_review: "review",
};

export const isPhase = (name: string): name is Phase => (PHASES as readonly string[]).includes(name);

type Standing = Pick<LiveSession, "status" | "phase"> & {
  interrupt: { type: string } | null;
  entries?: readonly Entry[];
};

/** Where a session is. One that was stopped is told to be done; it is where it was before, if that is known. */
export function phaseOf({ status, phase, interrupt, entries = [] }: Standing): string {
  if (status === "stopped" && phase === "done") {
    const last = entries.findLast((one) => one.kind === "phase" && one.phase !== "done");
    return last?.kind === "phase" ? last.phase : "";
  }
  return (status === "pending_interrupt" && interrupt && ASKED_IN[interrupt.type]) || phase;
}

/** How each phase stands, this time round: a session that goes back has the phases after it to do again. */
export function track(session: Standing): { phase: Phase; state: PhaseState }[] {
  const now = phaseOf(session);
  const at = now === "done" ? PHASES.length : (PHASES as readonly string[]).indexOf(now);
  return PHASES.map((phase, place) => ({ phase, state: stateOf(session.status, place, at) }));
}

function stateOf(status: string, place: number, at: number): PhaseState {
  if (status === "completed" || place < at) return "done";
  if (place > at) return "todo";
  if (status === "pending_interrupt") return "waiting";
  if (status === "error") return "failed";
  return status === "stopped" ? "stopped" : "current";
}
