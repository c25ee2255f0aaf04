import type { CodevStart } from "@/api/queries/codev";

/** What the form holds: everything as it was typed. */
export interface StartForm {
  requirement: string;
  domain: string;
  /** A flow to work on; empty: a new one. */
  flowId: string;
  existing: boolean;
  instanceId: string;
  spaceId: string;
  model: string;
  trials: string;
  budget: string;
  iterations: string;
  skipQuestions: boolean;
  repairsApproved: boolean;
  webhook: string;
}

export const EMPTY_START: StartForm = {
  requirement: "",
  domain: "headgate",
  flowId: "",
  existing: false,
  instanceId: "",
  spaceId: "",
  model: "",
  trials: "1",
  budget: "",
  iterations: "",
  skipQuestions: false,
  repairsApproved: false,
  webhook: "",
};

export type StartFault = "requirement" | "flow" | "instance" | "trials" | "budget" | "iterations" | "webhook";

/** A whole number as people write it: `200000`, `200 000`, `200,000`, `200.000`; otherwise none. */
export const figureOf = (text: string): number =>
  /^\d+$|^\d{1,3}([\s.,'’]\d{3})+$/.test(text.trim()) ? Number(text.replace(/\D/g, "")) : Number.NaN;

export const whole = (text: string, least: number, most: number): boolean => {
  const value = figureOf(text);
  return value >= least && value <= most;
};

/** What keeps the form from being sent. */
export function startFaults(form: StartForm): Set<StartFault> {
  const faults = new Set<StartFault>();
  if (!form.requirement.trim()) faults.add("requirement");
  if (form.existing && !flowIdOf(form.flowId)) faults.add("flow");
  if (form.domain !== "headgate" && !form.instanceId) faults.add("instance");
  if (!whole(form.trials, 1, 10)) faults.add("trials");
  if (form.budget.trim() && !whole(form.budget, 1000, 50_000_000)) faults.add("budget");
  if (form.iterations.trim() && !whole(form.iterations, 1, 20)) faults.add("iterations");
  if (form.webhook.trim() && !/^https?:\/\/\S+$/i.test(form.webhook.trim())) faults.add("webhook");
  return faults;
}

/** The id of a flow, also where somebody gave the address of its page. */
export function flowIdOf(given: string): string {
  const text = given.trim();
  if (!/^https?:\/\//i.test(text)) return text;
  return (
    text
      .replace(/[?#].*$/, "")
      .replace(/\/+$/, "")
      .split("/")
      .at(-1) ?? ""
  );
}

/** What is sent: what was left empty is left to the server. */
export function toStart(form: StartForm): CodevStart {
  const own = form.domain === "headgate";
  return {
    requirement: form.requirement.trim(),
    domain: form.domain,
    flow_id: form.existing ? flowIdOf(form.flowId) : null,
    ...(own ? {} : { instance_id: form.instanceId }),
    ...(own && !form.existing && form.spaceId ? { space_id: form.spaceId } : {}),
    ...(form.model ? { model: form.model } : {}),
    test_trials: figureOf(form.trials),
    ...(form.budget.trim() ? { token_budget: figureOf(form.budget) } : {}),
    ...(form.iterations.trim() ? { max_iterations: figureOf(form.iterations) } : {}),
    skip_clarification: form.skipQuestions,
    repairs_approved: form.repairsApproved,
    ...(form.webhook.trim() ? { webhook_url: form.webhook.trim() } : {}),
  };
}
