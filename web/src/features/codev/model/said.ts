import type { CodevSession } from "@/api/queries/codev";
import type { Tone } from "@/components/ui";
import type { CodevText, SayCodev } from "../texts";
import tools from "../texts/en.tools";
import type { NoteEntry } from "./history";
import { isPhase, phaseOf } from "./phases";
import { isOver } from "./session";

export const STATUS_TONES: Record<CodevSession["status"], Tone> = {
  in_progress: "info",
  pending_interrupt: "accent",
  completed: "ok",
  stopped: "warn",
  error: "bad",
};

/** A phase in the language in use; one that we do not know as the server calls it. */
export const phaseWords = (t: SayCodev, phase: string): string =>
  isPhase(phase) ? t(`phase_${phase}`) : phase === "done" ? t("phase_done") : phase.replaceAll("_", " ");

/** Where a session is, in the list. */
export function whereWords(t: SayCodev, session: CodevSession): string {
  if (session.status === "pending_interrupt" && session.interrupt) {
    return t(`waits_${session.interrupt.type}` as CodevText);
  }
  // That it is over is said beside it.
  return session.phase === "done" ? "" : phaseWords(t, phaseOf(session));
}

/** The place of a flow that is not there: one that is to come, or none where nothing comes any more. */
export function unmadeWords({ status, domain, can_go_on }: CodevSession): CodevText {
  if (isOver(status) && !can_go_on) return "no_flow_left";
  return domain === "flowise" ? "no_chatflow_yet" : "no_flow_yet";
}

const TOOLS: object = tools;

const PLANS = ["plan_approval", "plan_repair", "plan_tests", "plan_conflict"];
const ASKED = new Set(["clarification", "credential_check", "model_key", ...PLANS, "result_review", "review_open"]);

/** What a session waited for. */
export const askedWords = (t: SayCodev, { about, text }: NoteEntry): string =>
  ASKED.has(about) ? t(`waits_${about}` as CodevText) : text || t("asked");

/** What a tool does, in words where we know it; otherwise its name as words. */
export function toolWords(t: SayCodev, name: string): string {
  return Object.hasOwn(TOOLS, `tool_${name}`) ? t(`tool_${name}` as CodevText) : name.replaceAll("_", " ");
}

/** As a line begins. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
