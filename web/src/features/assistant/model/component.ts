import type { components } from "@/api/schema";
import type { AssistantMessage, MadeComponent } from "./message";
import type { Completed, FlowUpdate } from "./wire";

type Proposed = components["schemas"]["ComponentProposalOut"];

const unsaved = { state: "pending", notKept: "", added: false } as const;

/** A component that the assistant proposes. */
export function proposedComponent(update: Extract<FlowUpdate, { action: "propose_component" }>): MadeComponent {
  const { id, class_name, code, attempts, reach, note } = update;
  return {
    proposalId: id,
    className: class_name,
    code,
    validated: true,
    attempts,
    reach,
    note,
    findings: [],
    ...unsaved,
  };
}

/** The component of an answer at its end: the proposed one, or one that passed its checks in no attempt. */
export function componentOf(known: MadeComponent | null, data: Completed): MadeComponent | null {
  if (!data.class_name || !data.component_code || data.component_proposal) return known;
  return {
    proposalId: "",
    className: data.class_name,
    code: data.component_code,
    validated: false,
    attempts: data.validation_attempts ?? 1,
    reach: null,
    note: "",
    findings: data.findings ?? [],
    ...unsaved,
  };
}

/** The component after its user edited the code: a new proposal, or what is wrong with it. */
export function editedComponent(made: MadeComponent, code: string, found: Proposed): MadeComponent {
  if (!found.ok || !found.reach) {
    const findings = (found.findings ?? []) as unknown as MadeComponent["findings"];
    return { ...made, code, proposalId: "", validated: false, reach: null, note: "", findings };
  }
  return {
    ...made,
    code,
    proposalId: found.proposal_id ?? "",
    className: found.type ?? made.className,
    validated: true,
    attempts: 1,
    reach: found.reach,
    note: found.note ?? "",
    findings: [],
  };
}

export const isOpen = (made: MadeComponent | null): made is MadeComponent =>
  made?.state === "pending" && made.proposalId !== "";

/** Whether the rest of the request is to be asked for: the component it waited for was saved. */
export const continuesAfterComponent = (message: AssistantMessage): boolean =>
  message.continues && message.status === "done" && message.component?.state === "saved";
