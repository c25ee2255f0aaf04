import { pageMetrics } from "@/lib/pageMetrics";
import { readStored, writeStored } from "@/lib/storage";
import type { AssistantMessage, FieldEdit, Message, TurnProblem, UserMessage } from "../model/message";
import { newAnswer } from "../model/message";
import { type PlanAction, planAfter } from "../model/plan";
import { continued, type Effect, ended, reduceTurn } from "../model/turn";
import type { TurnEvent } from "../model/wire";
import type { GetAssistant, SetAssistant } from "./store";

/** The model that requests name; null leaves the choice to the server. */
export interface ModelChoice {
  provider: string;
  name: string;
}

export interface TurnSlice {
  /** The answer that is being worked on. */
  working: string | null;
  /** A dismissed plan: the next request carries it as context, once. */
  stash: string | null;
  skipAll: boolean;
  model: ModelChoice | null;
  setSkipAll: (on: boolean) => void;
  setModel: (model: ModelChoice | null) => void;
  note: (key: string) => void;
  /** Something is said: what waited before is dismissed; gives the id of the answer to come. */
  begin: (said: Pick<UserMessage, "text" | "kind">) => string;
  /** The next turn of the same request goes on in the answer that is there. */
  resume: (id: string) => void;
  /** An event of the turn; gives what the canvas is to do. */
  take: (id: string, event: TurnEvent) => Effect[];
  end: (id: string, status: AssistantMessage["status"], problem?: TurnProblem) => void;
  /** No turn follows any more: the answer is kept. */
  rest: () => void;
  /** Whether that could be done with the plan. */
  decidePlan: (id: string, action: PlanAction) => boolean;
  patch: (id: string, change: (message: AssistantMessage) => AssistantMessage) => void;
  setEdits: (id: string, states: Record<string, FieldEdit["state"]>) => void;
  /** A proposal that was put on the canvas can be taken again, unless something was said since. */
  offerAgain: (id: string) => void;
}

const SKIP_ALL = "assistant.skip-all";
const MODEL = "assistant.model";

export function createTurnSlice(set: SetAssistant, get: GetAssistant): TurnSlice {
  const skipAll = readStored<unknown>(SKIP_ALL, false) === true;
  if (skipAll) pageMetrics.skipAll(true);
  const patch: TurnSlice["patch"] = (id, change) =>
    set(({ messages }) => ({
      messages: messages.map((one) => (one.id === id && one.role === "assistant" ? change(one) : one)),
    }));
  const find = (id: string) => answerOf(get().messages, id);
  return {
    working: null,
    stash: null,
    skipAll,
    model: readStored<ModelChoice | null>(MODEL, null),
    setSkipAll: (skipAll) => {
      pageMetrics.count("skip_all_toggle");
      pageMetrics.skipAll(skipAll);
      writeStored(SKIP_ALL, skipAll);
      set({ skipAll });
    },
    setModel: (model) => {
      writeStored(MODEL, model);
      set({ model });
    },
    note: (key) => {
      set(({ messages }) => ({ messages: [...messages, { ...stamp(), role: "note", key }] }));
      get().keep();
    },
    begin: ({ text, kind }) => {
      const user: UserMessage = { ...stamp(), role: "user", text, kind };
      const answer = newAnswer(crypto.randomUUID(), Date.now());
      const before = get().messages.map((one) => superseded(one, kind));
      set({ messages: [...before, user, answer], working: answer.id, stash: null });
      return answer.id;
    },
    resume: (id) => {
      patch(id, continued);
      set({ working: id });
    },
    take: (id, event) => {
      const message = find(id);
      if (!message) return [];
      const reduced = reduceTurn(message, event, { skipAll: get().skipAll });
      patch(id, () => reduced.message);
      if ((reduced.message.proposal?.tail.length ?? 0) > (message.proposal?.tail.length ?? 0)) {
        pageMetrics.count("flow_tail_update_buffered");
      }
      // A new plan takes the place of the one that was being refined.
      if (event.event === "flow_update" && event.action === "propose_plan") set({ stash: null });
      return reduced.effects;
    },
    end: (id, status, problem) =>
      patch(id, (message) =>
        message.status === "working" ? { ...ended(message, status), problem: problem ?? message.problem } : message,
      ),
    rest: () => {
      set({ working: null });
      get().keep();
    },
    decidePlan: (id, action) => {
      const plan = find(id)?.plan;
      const next = plan && planAfter(plan, action);
      if (!next || next === plan) return false;
      if (action !== "approve") pageMetrics.count(action === "dismiss" ? "plan_dismiss" : "plan_reset");
      patch(id, (message) => ({ ...message, plan: next }));
      set({ stash: next.state === "refining" ? plan.markdown : null });
      get().keep();
      return true;
    },
    patch,
    setEdits: (id, states) => {
      patch(id, (message) => ({
        ...message,
        edits: message.edits.map((edit) => ({ ...edit, state: states[edit.id] ?? edit.state })),
      }));
      get().keep();
    },
    offerAgain: (id) => {
      const { messages } = get();
      const said = messages.findLastIndex((one) => one.role === "user");
      if (messages.findIndex((one) => one.id === id) < said) return;
      patch(id, (message) =>
        message.proposal?.state === "applied"
          ? { ...message, proposal: { ...message.proposal, state: "pending" } }
          : message,
      );
    },
  };
}

export function answerOf(messages: Message[], id: string | null): AssistantMessage | undefined {
  return messages.find((one): one is AssistantMessage => one.id === id && one.role === "assistant");
}

const stamp = () => ({ id: crypto.randomUUID(), at: Date.now() });

/** A message once something else was said: a flow, edits, a plan or a component that still waited are dismissed. */
function superseded(message: Message, kind: UserMessage["kind"]): Message {
  if (message.role !== "assistant") return message;
  const { proposal, plan } = message;
  const answer: AssistantMessage = { ...message, continues: false };
  const { component } = message;
  if (component?.state === "pending") answer.component = { ...component, state: "dismissed" };
  if (proposal?.state === "pending") {
    answer.proposal = { ...proposal, state: proposal.times > 0 ? "applied" : "dismissed" };
  }
  if (plan && kind === "said" && (plan.state === "pending" || plan.state === "refining")) {
    answer.plan = { ...plan, state: "dismissed" };
  }
  return answer;
}
