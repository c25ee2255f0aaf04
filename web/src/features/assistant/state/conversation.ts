import { checkComponent, proposeComponent, reportPageMetrics, resetSession, stopTurn } from "@/api/queries/assistant";
import { pageMetrics } from "@/lib/pageMetrics";
import { continuesAfterComponent, editedComponent, isOpen } from "../model/component";
import { continuesAfterEdits, pendingEdits } from "../model/edits";
import type { MadeComponent } from "../model/message";
import { asRefinement, type PlanAction, PROTOCOL } from "../model/plan";
import { readCommand, type SlashCommand } from "../model/slash";
import type { AssistantStore } from "./store";
import { answerOf } from "./turnSlice";
import { type Outside, Turns } from "./turns";

/** How long a proposal that was taken says so before it can be taken again. */
export const APPLIED_MS = 3000;

/** Speaks with the server for the panel: sends what is said, and does what comes of it. */
export class Conversation {
  private readonly turns: Turns;
  private timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(
    private readonly store: AssistantStore,
    private readonly outside: Outside,
  ) {
    this.turns = new Turns(store, outside);
    pageMetrics.to(reportPageMetrics);
  }

  /** The panel was opened: a conversation that begins now begins on the server too. */
  open(): void {
    const { fresh, sessionId } = this.store.getState();
    if (!fresh) return;
    this.store.setState({ fresh: false });
    void resetSession(sessionId).catch(() => undefined);
  }

  newSession(): void {
    this.stop();
    this.store.getState().newSession();
    this.open();
  }

  /** What somebody typed: a command of the page, or a request. */
  async say(text: string): Promise<void> {
    const words = text.trim();
    const state = this.store.getState();
    if (!words || state.working) return;
    state.sent(words);
    const command = readCommand(words);
    if (command) {
      this.obey(command);
      return;
    }
    const { stash } = state;
    const id = state.begin({ text: words, kind: "said" });
    await this.turns.work(id, stash === null ? words : asRefinement(stash, words));
  }

  private obey(command: SlashCommand): void {
    const state = this.store.getState();
    if (command === "/new") {
      this.newSession();
      return;
    }
    if (command === "/skip-all") state.setSkipAll(!state.skipAll);
    this.store.getState().note(command === "/help" ? "help" : state.skipAll ? "skip_off" : "skip_on");
  }

  /** Stop the turn, here and on the server. */
  stop(): void {
    const { working, messages } = this.store.getState();
    const turnId = answerOf(messages, working)?.turnId;
    if (turnId) void stopTurn(turnId).catch(() => undefined);
    this.turns.abort();
  }

  /** The panel is gone for good. */
  close(): void {
    this.turns.abort();
    for (const timer of this.timers) clearTimeout(timer);
  }

  async decidePlan(id: string, action: PlanAction): Promise<void> {
    const state = this.store.getState();
    if (action === "approve" && state.working) return;
    if (!state.decidePlan(id, action) || action !== "approve") return;
    const answer = this.store.getState().begin({ text: PROTOCOL.plan_approval_input, kind: "approval" });
    await this.turns.work(answer, PROTOCOL.plan_approval_input);
  }

  /** Ask the same again; calls that were refused after content from outside are allowed in it. */
  async allowRefused(id: string): Promise<void> {
    const { messages, working, begin } = this.store.getState();
    const message = answerOf(messages, id);
    const asked = messages
      .slice(
        0,
        messages.findIndex((one) => one.id === id),
      )
      .findLast((one) => one.role === "user");
    if (working || !message?.refused?.length || asked?.role !== "user") return;
    const tools = message.refused.map((one) => one.tool);
    await this.turns.work(begin({ text: asked.text, kind: asked.kind }), asked.text, tools);
  }

  /** Put a proposal on the canvas; whether it took it. */
  take(id: string, how: "add" | "replace"): boolean {
    const { messages, patch, keep } = this.store.getState();
    const proposal = answerOf(messages, id)?.proposal;
    if (proposal?.state !== "pending") return false;
    const from = performance.now();
    const landed = this.turns.hand.take(proposal, how);
    if (!landed) return false;
    pageMetrics.count("flow_proposal_continue");
    requestAnimationFrame(() => pageMetrics.applied(performance.now() - from));
    patch(id, (one) =>
      one.proposal
        ? { ...one, proposal: { ...one.proposal, state: "applied", times: one.proposal.times + 1, landed } }
        : one,
    );
    keep();
    void this.turns.learn(proposal.flow);
    this.later(() => this.store.getState().offerAgain(id), APPLIED_MS);
    return true;
  }

  dismissProposal(id: string): void {
    pageMetrics.count("flow_proposal_dismiss");
    const { patch, keep } = this.store.getState();
    patch(id, (one) => (one.proposal ? { ...one, proposal: { ...one.proposal, state: "dismissed" } } : one));
    keep();
  }

  /** Make proposed edits, then go on with what waited for them. */
  async acceptEdits(id: string, editIds: string[]): Promise<void> {
    const message = answerOf(this.store.getState().messages, id);
    const edits = message ? pendingEdits(message).filter((edit) => editIds.includes(edit.id)) : [];
    if (edits.length === 0) return;
    this.store.getState().setEdits(id, this.turns.hand.accept(edits));
    await this.goOn(id);
  }

  async dismissEdits(id: string, editIds: string[]): Promise<void> {
    this.store.getState().setEdits(id, Object.fromEntries(editIds.map((one) => [one, "dismissed" as const])));
    await this.goOn(id);
  }

  /** Save the proposed component, then continue what waited for it. Throws ApiError where it is refused. */
  async saveComponent(id: string): Promise<void> {
    await this.turns.saveComponent(id);
    await this.goOn(id);
  }

  dismissComponent(id: string): void {
    this.patchComponent(id, { state: "dismissed" });
  }

  /** Have the code as its user edited it checked; what it may reach is shown anew. Throws ApiError. */
  async editComponent(id: string, code: string): Promise<void> {
    const made = answerOf(this.store.getState().messages, id)?.component;
    if (made?.state !== "pending") return;
    this.patchComponent(id, editedComponent(made, code, await proposeComponent(code)));
  }

  private patchComponent(id: string, change: Partial<MadeComponent>): void {
    const { patch, keep } = this.store.getState();
    patch(id, (one) => (one.component ? { ...one, component: { ...one.component, ...change } } : one));
    keep();
  }

  /** Put a component on the canvas. Throws ApiError where its code is refused. */
  async addComponent(id: string): Promise<string | null> {
    const made = answerOf(this.store.getState().messages, id)?.component;
    if (!made) return null;
    const found = await checkComponent(made.code);
    const { templates, setTemplates, addNode, document, focusNode } = this.outside.draft.getState();
    if (found.template) setTemplates([...Object.values(templates), found.template]);
    const right = Math.max(...Object.values(document.nodes).map((node) => (node.position?.x ?? 0) + 380), 0);
    const node = addNode(made.className, { x: right, y: 0 }, { code: made.code });
    focusNode(node);
    this.patchComponent(id, { added: true });
    return node;
  }

  /** The steps that waited for edits or a component are asked for once none is open, in the same answer. */
  private async goOn(id: string): Promise<void> {
    const state = this.store.getState();
    const message = answerOf(state.messages, id);
    if (!message || state.working || isOpen(message.component)) return;
    const component = continuesAfterComponent(message);
    if (!component && !continuesAfterEdits(message)) return;
    state.resume(id);
    await this.turns.work(id, component ? PROTOCOL.component_continuation_input : PROTOCOL.edit_continuation_input);
  }

  private later(act: () => void, ms: number): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer);
  }
}
