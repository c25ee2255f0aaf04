import type { Flow, JsonValue } from "@/api/types";
import type { Budget, Finding, FlowUpdate, PatchOperation, Reach, RefusedCall, Usage, Validation } from "./wire";

type GateState = "pending" | "applied" | "dismissed";
export type PlanState = "pending" | "approved" | "refining" | "dismissed";

/** A whole flow that waits to be taken over, with the changes that came after it. */
export interface Proposal {
  flow: Flow;
  replaces: string[];
  tail: FlowUpdate[];
  state: GateState;
  /** How often it was put on the canvas. */
  times: number;
  /** What the canvas had of it when it was last put there. */
  landed: { nodes: number; edges: number } | null;
}

export interface Plan {
  markdown: string;
  state: PlanState;
}

/** A value that the assistant proposes for a field; `stale` when the field is no longer what it was proposed for. */
export interface FieldEdit {
  id: string;
  nodeId: string;
  nodeType: string;
  field: string;
  before: JsonValue;
  after: JsonValue;
  description: string;
  patch: PatchOperation[];
  state: GateState | "stale";
}

export type TaskKind = "add" | "remove" | "connect" | "disconnect" | "configure" | "rename";

/** One line of what was done to the canvas while the turn went on. */
export interface BuildTask {
  key: string;
  kind: TaskKind;
  /** A node's type or id, or the source of an edge. */
  subject: string;
  /** The other end of an edge, the names of the fields that were set, or the new id. */
  object: string;
}

export interface WrittenFile {
  path: string;
  size: number;
  /** Null where only a part of the file was changed: its text was not sent. */
  content: string | null;
}

/** A component that was written. Nothing of it is stored before it is saved. */
export interface MadeComponent {
  /** For saving exactly this code; empty where it did not pass its checks. */
  proposalId: string;
  className: string;
  code: string;
  validated: boolean;
  attempts: number;
  reach: Reach | null;
  /** Why it was not tried, or what the trial showed. */
  note: string;
  findings: Finding[];
  state: "pending" | "saved" | "dismissed";
  /** Why later requests do not find it, although it is saved. */
  notKept: string;
  added: boolean;
}

export interface RunStep {
  id: string;
  label: string;
  status: string;
  ms: number | null;
  preview: string;
  error: string;
}

export interface RunShown {
  runId: string;
  status: string;
  steps: RunStep[];
  ms: number | null;
  text: string;
  error: string;
}

export interface TurnProblem {
  message: string;
  code: string;
  remedy: string;
}

export interface UserMessage {
  id: string;
  role: "user";
  text: string;
  /** `approval` stands for the text that is sent when a plan is approved. */
  kind: "said" | "approval";
  at: number;
}

/** What the page itself says: what a command of `/` did. */
interface NoteMessage {
  id: string;
  role: "note";
  key: string;
  at: number;
}

interface Stage {
  step: string;
  attempt: number;
  of: number;
}

export interface AssistantMessage {
  id: string;
  role: "assistant";
  at: number;
  status: "working" | "done" | "failed" | "cancelled";
  turnId: string;
  text: string;
  stage: Stage | null;
  /** Several things in one request: said instead of the single steps. */
  orchestrating: boolean;
  budget: Budget | null;
  model: string;
  offline: boolean;
  declined: boolean;
  tasks: BuildTask[];
  plan: Plan | null;
  /** A plan was proposed while no gate is shown: the next turn approves it. */
  plansItself: boolean;
  proposal: Proposal | null;
  edits: FieldEdit[];
  files: WrittenFile[];
  component: MadeComponent | null;
  runs: RunShown[];
  changes: string[];
  validation: Validation | null;
  note: string;
  caveat: string;
  /** Calls that content from outside may have decided. */
  refused: RefusedCall[];
  /** The version that keeps what a whole new flow took the place of. */
  keptVersion: number | null;
  usage: Usage | null;
  seconds: number | null;
  usd: number | null;
  problem: TurnProblem | null;
  /** Steps of the request wait for the edits to be applied. */
  continues: boolean;
}

export type Message = UserMessage | AssistantMessage | NoteMessage;

export function newAnswer(id: string, at: number): AssistantMessage {
  return {
    id,
    role: "assistant",
    at,
    status: "working",
    turnId: "",
    text: "",
    stage: null,
    orchestrating: false,
    budget: null,
    model: "",
    offline: false,
    declined: false,
    tasks: [],
    plan: null,
    plansItself: false,
    proposal: null,
    edits: [],
    files: [],
    component: null,
    runs: [],
    changes: [],
    validation: null,
    note: "",
    caveat: "",
    refused: [],
    keptVersion: null,
    usage: null,
    seconds: null,
    usd: null,
    problem: null,
    continues: false,
  };
}
