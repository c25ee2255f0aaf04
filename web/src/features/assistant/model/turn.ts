import { componentOf, proposedComponent } from "./component";
import type { AssistantMessage, FieldEdit } from "./message";
import { withOutcomes, withRun } from "./runs";
import { withTask } from "./tasks";
import type { Completed, FlowUpdate, TurnEvent } from "./wire";

/** What the canvas is to do because of an event. The reducer knows no canvas. */
export type Effect =
  | { kind: "change"; update: FlowUpdate }
  | { kind: "run"; event: Extract<TurnEvent, { event: "run_update" }> }
  | { kind: "completed"; data: Completed };

export interface Reduced {
  message: AssistantMessage;
  effects: Effect[];
}

export interface Mode {
  /** No gate is shown: whole flows land at once, plans are approved, edits are applied. */
  skipAll: boolean;
}

const OFFLINE = "offline builder";

/** An answer after an event of its turn. Pure: every order of events gives what happened, and nothing of the words. */
export function reduceTurn(message: AssistantMessage, event: TurnEvent, mode: Mode): Reduced {
  switch (event.event) {
    case "progress":
      return only(progressed(message, event));
    case "token":
      return only({ ...message, text: message.text + event.chunk });
    case "flow_update":
      return updated(message, event, mode);
    case "flow_preview":
      return only(message);
    case "file_written":
      return only({ ...message, files: withFile(message, event) });
    case "run_update":
      return { message: { ...message, runs: withRun(message.runs, event) }, effects: [{ kind: "run", event }] };
    case "complete":
      return completed(message, event.data, mode);
    case "error":
      return only({ ...ended(message, "failed"), problem: event });
    case "cancelled":
      return only(ended(message, "cancelled"));
  }
}

const only = (message: AssistantMessage): Reduced => ({ message, effects: [] });

function progressed(message: AssistantMessage, event: Extract<TurnEvent, { event: "progress" }>): AssistantMessage {
  const turnId = event.turn_id ?? message.turnId;
  if (event.step === "budget") {
    return { ...message, turnId, budget: event.budget ?? null, model: event.model ?? message.model };
  }
  const orchestrating = message.orchestrating || event.step === "orchestrating";
  const stage = { step: event.step, attempt: event.attempt, of: event.max_attempts };
  return { ...message, turnId, stage, orchestrating };
}

function updated(message: AssistantMessage, update: FlowUpdate, mode: Mode): Reduced {
  switch (update.action) {
    case "set_flow":
      return wholeFlow(message, update, mode);
    case "propose_plan":
      // With every gate hidden the words before the plan say "I wait for you", which nobody does.
      if (mode.skipAll) return only({ ...message, plansItself: true, text: "" });
      return only({ ...message, plan: { markdown: update.markdown, state: "pending" } });
    case "propose_component":
      return only({ ...message, component: proposedComponent(update) });
    case "edit_field":
      return only({ ...message, edits: withEdit(message.edits, update) });
    default:
      return step(message, update);
  }
}

function wholeFlow(
  message: AssistantMessage,
  update: Extract<FlowUpdate, { action: "set_flow" }>,
  mode: Mode,
): Reduced {
  const validation = update.validation ?? message.validation;
  // Taken over at once: it was run, or was gone back to, or no gate is to be shown.
  if (update.auto_apply || mode.skipAll) {
    return { message: { ...message, validation, proposal: null }, effects: [{ kind: "change", update }] };
  }
  const proposal = { flow: update.flow, replaces: update.replaces ?? [], tail: [], landed: null };
  return only({ ...message, validation, proposal: { ...proposal, state: "pending", times: 0 } });
}

/** A change in steps: made at once, unless a whole flow waits, which it then belongs to. */
function step(message: AssistantMessage, update: FlowUpdate): Reduced {
  const validation = update.validation ?? message.validation;
  const { proposal } = message;
  if (proposal?.state === "pending") {
    const tail = [...proposal.tail, update];
    return only({ ...message, validation, proposal: { ...proposal, tail } });
  }
  const tasks = withTask(message.tasks, update);
  return { message: { ...message, validation, tasks }, effects: [{ kind: "change", update }] };
}

function withEdit(edits: FieldEdit[], update: Extract<FlowUpdate, { action: "edit_field" }>): FieldEdit[] {
  const edit: FieldEdit = {
    id: update.id,
    nodeId: update.component_id,
    nodeType: update.component_type,
    field: update.field,
    before: update.old_value,
    after: update.new_value,
    description: update.description,
    patch: update.patch,
    state: "pending",
  };
  return [...edits.filter((one) => one.id !== edit.id), edit];
}

function withFile(message: AssistantMessage, event: Extract<TurnEvent, { event: "file_written" }>) {
  const file = { path: event.path, size: event.size, content: event.content ?? null };
  return [...message.files.filter((one) => one.path !== file.path), file];
}

function completed(message: AssistantMessage, data: Completed, mode: Mode): Reduced {
  const model = data.model ?? message.model;
  const done = ended({ ...message, model }, "done");
  const read: AssistantMessage = {
    ...done,
    // The words that go with a plan nobody sees say that it waits.
    text: done.plansItself ? "" : data.result || done.text,
    offline: model === OFFLINE,
    declined: data.declined ?? false,
    changes: data.changes ?? [],
    note: data.note ?? "",
    caveat: data.stop_note ?? "",
    refused: refusedOf(data),
    keptVersion: data.kept_version ?? null,
    usage: sum(done.usage, data.usage),
    seconds: (done.seconds ?? 0) + (data.duration_seconds ?? 0),
    usd: data.cost ? (done.usd ?? 0) + data.cost.usd : done.usd,
    continues: data.continuation_expected ?? false,
    runs: withOutcomes(done.runs, data.runs ?? []),
    component: componentOf(done.component, data),
    proposal: proposalOf(done, data),
  };
  const effects: Effect[] = [{ kind: "completed", data }];
  if (landsNow(done, data, mode)) effects.unshift(landing(data));
  return { message: read, effects };
}

const refusedOf = (data: Completed) => data.outside?.refused ?? [];

/** A whole flow that waits although the turn ran and saved it: what was run is what the person is to see. */
function landsNow(message: AssistantMessage, data: Completed, mode: Mode): boolean {
  const waits = message.proposal?.state === "pending";
  return waits && Boolean(data.flow) && (mode.skipAll || ranAndSaved(data));
}

const ranAndSaved = (data: Completed) => Boolean(data.saved && data.runs?.length);

const landing = (data: Completed): Effect => ({
  kind: "change",
  update: { action: "set_flow", flow: data.flow ?? {}, auto_apply: true } as FlowUpdate,
});

/** The proposal at the end: gone where it landed, or where the assistant took it back itself. */
function proposalOf(message: AssistantMessage, data: Completed) {
  if (!message.proposal || ranAndSaved(data)) return null;
  return data.proposal === false && message.proposal.state === "pending" ? null : message.proposal;
}

/** The turn is over: nothing of it is still going on. */
export function ended(message: AssistantMessage, status: AssistantMessage["status"]): AssistantMessage {
  return { ...message, status, stage: null, orchestrating: false };
}

function sum(a: AssistantMessage["usage"], b: Completed["usage"]): AssistantMessage["usage"] {
  if (!a || !b) return b ?? a;
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
  };
}

/** The slot of an answer made ready for the next turn of the same request: what was done stays, its words go. */
export function continued(message: AssistantMessage): AssistantMessage {
  return {
    ...message,
    status: "working",
    text: "",
    stage: null,
    plansItself: false,
    continues: false,
    problem: null,
    caveat: "",
    refused: [],
    note: "",
  };
}
