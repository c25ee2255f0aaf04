import { streamEvents } from "@/api/events";
import { ApiError } from "@/api/problem";
import { checkComponent, saveComponent } from "@/api/queries/assistant";
import type { Flow } from "@/api/types";
import type { DraftStore } from "@/lib/draft";
import { pageMetrics } from "@/lib/pageMetrics";
import { continuesAfterComponent, isOpen } from "../model/component";
import { continuesAfterEdits, pendingEdits } from "../model/edits";
import type { TurnProblem } from "../model/message";
import { PROTOCOL } from "../model/plan";
import type { Effect } from "../model/turn";
import { readEvent, type TurnEvent } from "../model/wire";
import { Hand, type Labels } from "./canvas";
import { shownOnCanvas } from "./runsOnCanvas";
import type { AssistantStore } from "./store";
import { answerOf } from "./turnSlice";

const STREAM = "/api/v1/agentic/assist/stream";
/** Pieces of an answer are drawn together: not one by one. */
const TOKENS_MS = 40;

export interface Outside {
  draft: DraftStore;
  labels: Labels;
  /** What is said when the draft could not be saved, and when the connection went. */
  unsaved: TurnProblem;
  offline: TurnProblem;
}

/** The turns of a request: sends, listens, and does on the canvas what comes of it. */
export class Turns {
  readonly hand: Hand;
  private aborting: AbortController | null = null;

  constructor(
    private readonly store: AssistantStore,
    private readonly outside: Outside,
  ) {
    this.hand = new Hand(outside.draft, outside.labels);
  }

  abort(): void {
    this.aborting?.abort();
  }

  /** Turns until the request is done: with every gate hidden one leads to the next, in one answer. */
  async work(id: string, input: string, allowed: readonly string[] = []): Promise<void> {
    const aborting = new AbortController();
    this.aborting = aborting;
    this.store.getState().keep();
    let next: string | null = input;
    while (next !== null) {
      await this.turn(id, next, aborting.signal, allowed);
      next = aborting.signal.aborted ? null : await this.unasked(id);
      if (next !== null) this.store.getState().resume(id);
    }
    this.aborting = null;
    this.store.getState().rest();
  }

  /** With every gate hidden: what is sent next without anybody having to say so. */
  private async unasked(id: string): Promise<string | null> {
    const { messages, skipAll, setEdits } = this.store.getState();
    const message = answerOf(messages, id);
    if (!skipAll || message?.status !== "done") return null;
    if (message.plansItself) {
      pageMetrics.count("skip_all_auto_approve");
      return PROTOCOL.plan_approval_input;
    }
    const edits = pendingEdits(message);
    if (edits.length > 0) setEdits(id, this.hand.accept(edits));
    if (isOpen(message.component)) await this.saveComponent(id);
    const after = answerOf(this.store.getState().messages, id);
    if (after && continuesAfterComponent(after)) return PROTOCOL.component_continuation_input;
    return after && continuesAfterEdits(after) ? PROTOCOL.edit_continuation_input : null;
  }

  /** Save the component that an answer proposes; its template is known from then on. Throws ApiError. */
  async saveComponent(id: string): Promise<void> {
    const made = answerOf(this.store.getState().messages, id)?.component ?? null;
    if (!isOpen(made)) return;
    const saved = await saveComponent(made.code, made.proposalId);
    const { templates, setTemplates } = this.outside.draft.getState();
    setTemplates([...Object.values(templates), saved.template]);
    const { patch, keep } = this.store.getState();
    patch(id, (one) =>
      one.component ? { ...one, component: { ...one.component, state: "saved", notKept: saved.not_kept ?? "" } } : one,
    );
    keep();
  }

  private async turn(id: string, input: string, signal: AbortSignal, allowed: readonly string[]): Promise<void> {
    const { draft, unsaved } = this.outside;
    const { end, sessionId, flowId, model } = this.store.getState();
    if (!(await draft.getState().flush())) {
      end(id, "failed", unsaved);
      return;
    }
    const body = {
      input_value: input,
      flow_id: flowId,
      session_id: sessionId,
      ...(allowed.length > 0 ? { outside_allowlist: allowed } : {}),
      ...(model ? { provider: model.provider, ...(model.name ? { model_name: model.name } : {}) } : {}),
    };
    const letGo = draft.getState().hold();
    this.hand.begin();
    try {
      await this.listen(id, body, signal);
      end(id, signal.aborted ? "cancelled" : "failed", signal.aborted ? undefined : this.outside.offline);
    } catch (error) {
      if (signal.aborted) end(id, "cancelled");
      else end(id, "failed", this.problemOf(error));
    } finally {
      letGo();
    }
  }

  private async listen(id: string, body: unknown, signal: AbortSignal): Promise<void> {
    const take = (event: TurnEvent) => {
      for (const effect of this.store.getState().take(id, event)) this.perform(id, effect);
    };
    const tokens = gathered((chunk) => take({ event: "token", chunk }), TOKENS_MS);
    try {
      for await (const { data } of streamEvents(STREAM, { method: "POST", body, signal })) {
        const event = readEvent(data);
        if (event?.event === "token") tokens.add(event.chunk);
        else if (event) {
          tokens.flush();
          take(event);
        }
      }
    } finally {
      tokens.flush();
    }
  }

  private perform(id: string, effect: Effect): void {
    if (effect.kind === "change") {
      this.hand.change(id, effect.update);
      if (effect.update.action === "set_flow") void this.learn(effect.update.flow);
      if (effect.update.action === "add_component") void this.learn({ nodes: [effect.update.node] } as Flow);
    } else if (effect.kind === "run") shownOnCanvas(this.outside.draft, effect.event);
    else this.hand.settle(id, effect.data);
  }

  /** Templates of components that a flow brings along: without them the canvas knows no ports of theirs. */
  async learn(flow: Flow): Promise<void> {
    const { templates } = this.outside.draft.getState();
    for (const node of flow.nodes ?? []) {
      if (!node.code || node.type in templates) continue;
      const found = await checkComponent(node.code).catch(() => null);
      const { templates: known, setTemplates } = this.outside.draft.getState();
      if (found?.template) setTemplates([...Object.values(known), found.template]);
    }
  }

  private problemOf(error: unknown): TurnProblem {
    if (!(error instanceof ApiError)) return { message: String(error), code: "page_error", remedy: "" };
    if (error.status === 0) return this.outside.offline;
    return { message: error.problem.detail || error.problem.title, code: error.code, remedy: error.remedy };
  }
}

/** Pieces of text taken together, for so long. */
function gathered(take: (text: string) => void, ms: number) {
  let text = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (text) take(text);
    text = "";
  };
  return {
    flush,
    add: (chunk: string) => {
      text += chunk;
      timer ??= setTimeout(flush, ms);
    },
  };
}
