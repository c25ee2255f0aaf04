import type { TestCase } from "@/api/queries/codev";
import { readCases } from "./cases";
import { kindOf } from "./known";
import { figure, record, sentences, type Told, words } from "./read";
import { readTrial, type Trial, withTrial } from "./trial";

interface Any {
  /** Number of the event that it began with. */
  id: number;
}
export interface PhaseEntry extends Any {
  kind: "phase";
  phase: string;
  iteration: number;
}
export interface ToolEntry extends Any {
  kind: "tool";
  call: string;
  name: string;
  given: Told;
  /** Null while it runs. */
  ok: boolean | null;
  preview: string;
  ms: number | null;
}
interface WriteEntry extends Any {
  kind: "write";
  number: number;
  tool: string;
  summary: string;
  state: string;
}
export interface TrialsEntry extends Any {
  kind: "trials";
  of: number;
  trials: Trial[];
}
interface VerdictEntry extends Any {
  kind: "verdict";
  done: boolean;
  category: string;
  reason: string;
  fix: string;
}
export interface NoteEntry extends Any {
  kind: "conflict" | "asked" | "done" | "error" | "webhook";
  /** Of what kind it is among its own: an interrupt's type, a status, an error's code. */
  about: string;
  text: string;
  /** The plan that was asked about, with its tests. */
  proposed?: Proposed;
}
export interface Proposed {
  interruptId: string;
  plan: string;
  cases: TestCase[];
}
export type Entry = PhaseEntry | ToolEntry | WriteEntry | TrialsEntry | VerdictEntry | NoteEntry;

/** What happened, with one event more. */
export function withEntry(entries: Entry[], id: number, kind: string, told: Told): Entry[] {
  switch (kind) {
    case "phase":
      return withPhase(entries, id, told);
    case "tool_result":
      return withResult(entries, id, told);
    case "write":
      return withWrite(entries, id, told);
    case "trial":
      return withOneTrial(entries, id, told);
    default: {
      const made = MADE[kind]?.(id, told);
      return made ? [...entries, made] : entries;
    }
  }
}

const note =
  (kind: NoteEntry["kind"], about: string, text: string) =>
  (id: number, told: Told): NoteEntry => ({ kind, id, about: words(told[about]), text: words(told[text]) });

/** What each of these events adds. */
const MADE: Record<string, (id: number, told: Told) => Entry> = {
  tool_call: (id, told) => ({
    kind: "tool",
    id,
    call: words(told.id),
    name: words(told.name),
    given: record(told.arguments),
    ok: null,
    preview: "",
    ms: null,
  }),
  verdict: (id, told) => ({
    kind: "verdict",
    id,
    done: told.done === true,
    category: words(told.category),
    reason: words(told.reason),
    fix: words(told.fix),
  }),
  conflict: note("conflict", "", "message"),
  interrupt: (id, told) => ({
    kind: "asked",
    id,
    about: kindOf(words(told.type), record(told.data)),
    text: words(told.prompt),
    ...proposedIn(told),
  }),
  done: note("done", "status", "stop_reason"),
  error: (id, told) => ({
    kind: "error",
    id,
    about: words(told.code),
    text: sentences(words(told.message), words(told.remedy)),
  }),
  webhook: (id, told) => ({
    kind: "webhook",
    id,
    about: told.delivered === true ? "delivered" : "failed",
    text: words(told.message),
  }),
};

function proposedIn(told: Told): { proposed?: Proposed } {
  const data = record(told.data);
  const plan = words(data.plan);
  return plan ? { proposed: { interruptId: words(told.id), plan, cases: readCases(data.cases) } } : {};
}

/** The plan that this one takes the place of, as the person had left it; of another question, the last proposed. */
export function planBefore(entries: readonly Entry[], { id, data }: Asked): Proposed | undefined {
  const replaced = record(record(data).before);
  const plan = words(replaced.plan);
  if (plan) return { interruptId: "", plan, cases: readCases(replaced.cases) };
  return entries
    .flatMap((one) => (one.kind === "asked" && one.proposed ? [one.proposed] : []))
    .findLast((one) => one.interruptId !== id);
}

/** What of a question tells of plans. */
interface Asked {
  id: string;
  data?: unknown;
}

/** A phase that is told again, as it is after a restart, is the same phase. */
function withPhase(entries: Entry[], id: number, told: Told): Entry[] {
  const phase = words(told.phase);
  const iteration = figure(told.iteration);
  const last = entries.findLast((one) => one.kind === "phase");
  if (last?.phase === phase && last.iteration === iteration) return entries;
  return [...entries, { kind: "phase", id, phase, iteration }];
}

function withResult(entries: Entry[], id: number, told: Told): Entry[] {
  const call = words(told.id);
  const result = { ok: told.ok === true, preview: words(told.preview), ms: figure(told.ms) };
  const at = entries.findLastIndex((one) => one.kind === "tool" && one.call === call);
  if (at < 0) return [...entries, { kind: "tool", id, call, name: words(told.name), given: {}, ...result }];
  return entries.map((one, place) => (place === at ? ({ ...one, ...result } as ToolEntry) : one));
}

/** A write is told of when it is meant, when it is made, and when it is taken back: it is one write. */
function withWrite(entries: Entry[], id: number, told: Told): Entry[] {
  const number = figure(told.number);
  const known = entries.findLast((one) => one.kind === "write" && one.number === number);
  if (known?.kind !== "write") {
    const made: Entry = {
      kind: "write",
      id,
      number,
      tool: words(told.tool),
      summary: words(told.summary),
      state: words(told.state),
    };
    return [...entries, made];
  }
  const next = { ...known, state: words(told.state), summary: words(told.summary) || known.summary };
  return entries.map((one) => (one === known ? next : one));
}

/** Trials since the phase began stand together. */
function withOneTrial(entries: Entry[], id: number, told: Told): Entry[] {
  const trial = readTrial(told);
  const of = figure(told.of);
  const from = entries.findLastIndex((one) => one.kind === "phase");
  const at = entries.findLastIndex((one) => one.kind === "trials");
  const known = entries[at];
  if (at < from || known?.kind !== "trials") return [...entries, { kind: "trials", id, of, trials: [trial] }];
  const next = { ...known, of: of || known.of, trials: withTrial(known.trials, trial) };
  return entries.map((one) => (one === known ? next : one));
}
