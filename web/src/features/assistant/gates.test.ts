import { afterEach, describe, expect, it, vi } from "vitest";
import { asRefinement, PROTOCOL } from "./model/plan";
import { readSessions } from "./model/sessions";
import { CHATBOT, complete, ECHO, progress, scripted, talk, update } from "./scripted";
import { APPLIED_MS } from "./state/conversation";

afterEach(() => vi.useRealTimers());

const BUILT = [
  progress("understanding", { turn_id: "t1", session_id: "agentic_1" }),
  update({ action: "set_flow", flow: CHATBOT }),
  progress("flow_proposal_ready"),
  complete({ flow: CHATBOT, proposal: true, saved: false }),
];
const PLANNED = [update({ action: "propose_plan", markdown: "1. Use GPT" }), complete({ plan: "1. Use GPT" })];
const SAID = [complete({ result: "Well." })];

describe("a proposed flow", () => {
  it("Build a new flow on an empty canvas (gated)", async () => {
    scripted(BUILT);
    const { conversation, answer, nodes } = talk();
    await conversation.say("Build me a simple chatbot");
    expect(answer().proposal?.state).toBe("pending");
    expect(nodes()).toEqual([]);
  });

  it("Continue applies the proposed flow", async () => {
    scripted(BUILT);
    const { conversation, answer, draft, nodes } = talk();
    await conversation.say("Build me a simple chatbot");
    expect(conversation.take(answer().id, "add")).toBe(true);
    expect(nodes()).toEqual(["heard", "said"]);
    expect(answer().proposal).toMatchObject({ state: "applied", landed: { nodes: 2, edges: 1 } });
    expect(draft.getState().past).toHaveLength(1);
    draft.getState().undo();
    expect(nodes()).toEqual([]);
  });

  it("Dismiss discards the proposed flow", async () => {
    scripted(BUILT);
    const { conversation, answer, nodes } = talk(ECHO);
    await conversation.say("Start over with a chatbot");
    conversation.dismissProposal(answer().id);
    expect(answer().proposal).toMatchObject({ state: "dismissed", flow: { name: "Chatbot" } });
    expect(conversation.take(answer().id, "replace")).toBe(false);
    expect(nodes()).toEqual(["ask", "answer"]);
  });

  it("Pending proposal is auto-dismissed on next send", async () => {
    scripted(BUILT, SAID);
    const { conversation, state, nodes } = talk();
    await conversation.say("Build me a simple chatbot");
    const first = state().messages[1];
    await conversation.say("Rather an echo");
    expect(state().messages[1]).toMatchObject({ id: first?.id, proposal: { state: "dismissed" } });
    expect(nodes()).toEqual([]);
  });

  it("Tail updates after set_flow are buffered (defensive)", async () => {
    const today = { id: "today", type: "CurrentDate", position: { x: 760, y: 0 } };
    const tail = update({ action: "add_component", node: today });
    scripted([...BUILT.slice(0, 2), tail, complete({ proposal: true, saved: false, flow: null })]);
    const { conversation, answer, nodes } = talk();
    await conversation.say("Build me a chatbot with the date");
    expect(nodes()).toEqual([]);
    conversation.take(answer().id, "add");
    expect(nodes()).toEqual(["heard", "said", "today"]);
  });

  it("Continue badge auto-reverts after 3 seconds", async () => {
    scripted(BUILT, SAID);
    const { conversation, answer } = talk();
    await conversation.say("Build me a simple chatbot");
    vi.useFakeTimers();
    conversation.take(answer().id, "add");
    vi.advanceTimersByTime(APPLIED_MS - 1);
    expect(answer().proposal?.state).toBe("applied");
    vi.advanceTimersByTime(1);
    expect(answer().proposal).toMatchObject({ state: "pending", times: 1 });
  });

  it("Continue badge auto-reverts after 3 seconds, not once something else was said", async () => {
    scripted(BUILT, SAID);
    const { conversation, answer, state } = talk();
    await conversation.say("Build me a simple chatbot");
    const { id } = answer();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    conversation.take(id, "add");
    state().begin({ text: "Thanks", kind: "said" });
    vi.advanceTimersByTime(APPLIED_MS);
    expect(state().messages.find((one) => one.id === id)).toMatchObject({ proposal: { state: "applied" } });
  });

  it("is added beside what is there, under names that are free", async () => {
    scripted([update({ action: "set_flow", flow: ECHO }), complete({ proposal: true, flow: ECHO })]);
    const { conversation, answer, draft } = talk(ECHO);
    await conversation.say("another echo");
    conversation.take(answer().id, "add");
    const { document } = draft.getState();
    expect(document.order).toEqual(["ask", "answer", "ask_2", "answer_2"]);
    expect(Object.keys(document.edges)).toEqual(["ask.text>answer.input", "ask_2.text>answer_2.input"]);
    expect(document.nodes.ask_2?.position?.y).toBeGreaterThan(0);
  });
});

describe("a proposed plan", () => {
  it("Plan proposal — Continue resumes the build", async () => {
    const { sent } = scripted(PLANNED, BUILT);
    const { conversation, answer, state } = talk();
    await conversation.say("build me a scraper with an agent");
    const { id } = answer();
    await conversation.decidePlan(id, "approve");
    expect(sent[1]?.input_value).toBe("User approved the plan. Proceed with the build.");
    expect(state().messages.find((one) => one.id === id)).toMatchObject({ plan: { state: "approved" } });
    expect(answer().proposal?.state).toBe("pending");
  });

  it("Plan proposal — Dismiss transitions to refining (not terminal)", async () => {
    const { sent } = scripted(PLANNED);
    const { conversation, answer, state } = talk();
    await conversation.say("build me a scraper with an agent");
    await conversation.decidePlan(answer().id, "dismiss");
    expect(answer().plan).toEqual({ markdown: "1. Use GPT", state: "refining" });
    expect(state().stash).toBe("1. Use GPT");
    expect(sent).toHaveLength(1);
  });

  it("Refining — next user message prepends dismissed plan as quoted context", async () => {
    const { sent } = scripted(PLANNED, SAID);
    const { conversation, answer, state } = talk();
    await conversation.say("build me a scraper with an agent");
    await conversation.decidePlan(answer().id, "dismiss");
    await conversation.say("use Claude instead of GPT");
    expect(sent[1]?.input_value).toBe(
      `${PROTOCOL.plan_opening}\n1. Use GPT\n[End of previous plan]\n\nUser refinement:\nuse Claude instead of GPT`,
    );
    expect(state().messages.at(-2)).toMatchObject({ role: "user", text: "use Claude instead of GPT" });
  });

  it("Refining — agent replans, stash auto-clears", async () => {
    const { sent } = scripted(
      PLANNED,
      [update({ action: "propose_plan", markdown: "1. Use Claude" }), complete()],
      SAID,
    );
    const { conversation, answer, state } = talk();
    await conversation.say("build me a scraper");
    await conversation.decidePlan(answer().id, "dismiss");
    await conversation.say("use Claude");
    expect(state().stash).toBeNull();
    expect(answer().plan).toEqual({ markdown: "1. Use Claude", state: "pending" });
    await conversation.say("fine");
    expect(sent[2]?.input_value).toBe("fine");
  });

  it("Refining — Reset closes the gate permanently", async () => {
    const { sent } = scripted(PLANNED, SAID);
    const { conversation, answer, state } = talk();
    await conversation.say("build me a scraper");
    await conversation.decidePlan(answer().id, "dismiss");
    await conversation.decidePlan(answer().id, "reset");
    expect(answer().plan?.state).toBe("dismissed");
    expect(state().stash).toBeNull();
    await conversation.decidePlan(answer().id, "approve");
    expect(answer().plan?.state).toBe("dismissed");
    await conversation.say("an echo");
    expect(sent.at(-1)?.input_value).toBe("an echo");
  });

  it("Stash isolation across session boundaries", async () => {
    const { sent } = scripted(PLANNED, SAID);
    const { conversation, answer, state } = talk();
    await conversation.say("build me a scraper");
    await conversation.decidePlan(answer().id, "dismiss");
    conversation.newSession();
    expect(state().stash).toBeNull();
    await conversation.say("build me an echo");
    expect(sent[1]?.input_value).toBe("build me an echo");
    expect(sent[1]?.session_id).not.toBe(sent[0]?.session_id);
  });

  it("is quoted word for word as the server reads it", () => {
    expect(asRefinement("P", "W").split("\n")).toEqual([
      PROTOCOL.plan_opening,
      "P",
      PROTOCOL.plan_closing,
      "",
      PROTOCOL.refinement,
      "W",
    ]);
  });
});

describe("sessions", () => {
  it("Session reset wipes components on panel mount", () => {
    const { resets } = scripted();
    const { conversation, state } = talk();
    conversation.open();
    return vi.waitFor(() => expect(resets).toEqual([state().sessionId]));
  });

  it("loadSession does NOT wipe components", async () => {
    const { resets } = scripted(SAID, SAID);
    const { conversation, state, flowId } = talk();
    conversation.open();
    const first = state().sessionId;
    await conversation.say("one");
    conversation.newSession();
    await conversation.say("two");
    await vi.waitFor(() => expect(resets).toHaveLength(2));
    state().loadSession(first);
    expect(state().sessionId).toBe(first);
    expect(state().messages[0]).toMatchObject({ text: "one" });
    conversation.open();
    expect(resets).toHaveLength(2);
    const again = talk(undefined, [], flowId);
    again.conversation.open();
    expect(again.state().sessionId).toBe(first);
    expect(resets).toHaveLength(2);
  });

  it("keep ten conversations, gates closed and secrets out", async () => {
    const turns = Array.from({ length: 12 }, () => BUILT);
    scripted(...turns);
    const { conversation, state, flowId } = talk();
    for (let at = 0; at < 12; at += 1) {
      await conversation.say(`build ${at} with sk-live-0123456789abcdef`);
      if (at < 11) conversation.newSession();
    }
    expect(state().sessions).toHaveLength(10);
    expect(JSON.stringify(localStorage)).not.toContain("sk-live-0123456789abcdef");
    const [latest] = readSessions(flowId).sessions;
    expect(latest?.messages[1]).toMatchObject({ proposal: { state: "dismissed" } });
  });
});
