import type { Flow, Template } from "@/api/types";
import { HIDDEN, redacted } from "@/lib/redacted";
import type { AssistantMessage, FieldEdit, Message, Proposal } from "./message";

/** Longest text of a file that is kept in the browser. */
const MOST_TEXT = 100_000;

type Templates = Record<string, Template>;

/** A message as the browser keeps it: no values of steps, no secrets. */
export function storable(message: Message, templates: Templates): Message {
  if (message.role === "note") return message;
  if (message.role === "user") return { ...message, text: redacted(message.text) };
  return {
    ...message,
    text: redacted(message.text),
    proposal: message.proposal && withoutValues(message.proposal),
    edits: message.edits.map((edit) => withoutSecret(edit, templates)),
    files: message.files.map((file) => ({ ...file, content: kept(file.content) })),
    component: message.component && { ...message.component, code: redacted(message.component.code) },
    runs: message.runs.map((run) => ({
      ...run,
      text: redacted(run.text),
      steps: run.steps.map((step) => ({ ...step, preview: redacted(step.preview) })),
    })),
  };
}

const kept = (content: string | null) => (content === null || content.length > MOST_TEXT ? null : redacted(content));

/** What a drawing needs of a flow: its values may be secrets, and a proposal of another visit cannot be taken any more. */
function withoutValues(proposal: Proposal): Proposal {
  const drawn = (flow: Flow): Flow => ({
    ...flow,
    form: [],
    nodes: (flow.nodes ?? []).map(({ id, type, label, position }) => ({
      id,
      type,
      ...(label ? { label } : {}),
      ...(position ? { position } : {}),
    })),
  });
  return { ...proposal, flow: drawn(proposal.flow), tail: [] };
}

function withoutSecret(edit: FieldEdit, templates: Templates): FieldEdit {
  const field = templates[edit.nodeType]?.fields?.find((one) => one.name === edit.field);
  const plain = (value: FieldEdit["before"]) => (typeof value === "string" ? redacted(value) : value);
  if (field?.kind === "secret") return { ...edit, before: HIDDEN, after: HIDDEN, patch: [] };
  return { ...edit, before: plain(edit.before), after: plain(edit.after), patch: [] };
}

/** A message of an earlier visit: what went on then does not go on now, and what waited waits no more. */
export function settled(message: Message): Message {
  if (message.role !== "assistant") return message;
  const { plan, proposal } = message;
  const answer: AssistantMessage = {
    ...message,
    status: message.status === "working" ? "cancelled" : message.status,
    stage: null,
    orchestrating: false,
    continues: false,
    edits: message.edits.map((edit) => (edit.state === "pending" ? { ...edit, state: "dismissed" } : edit)),
  };
  if (plan && (plan.state === "pending" || plan.state === "refining")) answer.plan = { ...plan, state: "dismissed" };
  const { component } = message;
  if (component?.state === "pending") answer.component = { ...component, state: "dismissed" };
  if (proposal?.state === "pending") {
    answer.proposal = { ...proposal, state: proposal.times > 0 ? "applied" : "dismissed" };
  }
  return answer;
}
