import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import { server } from "@/testing/server";
import { newAnswer } from "./model/message";
import { type Effect, reduceTurn } from "./model/turn";
import type { TurnEvent } from "./model/wire";
import { CHATBOT, complete, ECHO, flowOf, progress, scripted, talk, update } from "./scripted";

const add = (id: string, type: string) => update({ action: "add_component", node: { id, type } });
const edge = { source: "ask", output: "text", target: "agent", input: "input" };

/** Plays events through the reducer alone: the answer, and what the canvas was told. */
function played(events: TurnEvent[], skipAll = false) {
  let message = newAnswer("a", 0);
  const effects: Effect[] = [];
  for (const event of events) {
    const reduced = reduceTurn(message, event, { skipAll });
    message = reduced.message;
    effects.push(...reduced.effects);
  }
  const changes = effects.flatMap((one) => (one.kind === "change" ? [one.update] : []));
  return { message, landed: changes.filter((one) => one.action === "set_flow").length, changes };
}

describe("Build + run lands on the canvas regardless of how the user phrased it", () => {
  const built = update({ action: "set_flow", flow: CHATBOT });
  const landed = update({ action: "set_flow", flow: CHATBOT, auto_apply: true });
  const started: TurnEvent = { event: "run_update", run_id: "r", kind: "run_started", data: {} };
  const ran: TurnEvent = { event: "run_update", run_id: "r", kind: "run_completed", data: { ms: 3, text: "hej" } };
  const runs = [{ run_id: "r", status: "completed" }];
  const done = complete({ saved: true, runs, flow: CHATBOT, proposal: false });
  const orders: Record<string, TurnEvent[]> = {
    "built, ran, told again": [built, started, ran, landed, done],
    "built and taken over in one": [landed, started, ran, done],
    "ran, then built": [started, ran, landed, done],
    "told again before the run ended": [built, started, landed, ran, done],
    "told twice": [built, landed, landed, started, ran, done],
    "never told again": [built, started, ran, done],
    "no event of the run": [built, done],
    "nothing but the end of two builds": [built, built, done],
  };
  it.each(Object.entries(orders))("%s", (_order, events) => {
    const { message, landed: times } = played(events);
    expect(times).toBeGreaterThan(0);
    expect(message.proposal).toBeNull();
    expect(message.runs).toMatchObject([{ status: "completed" }]);
  });

  it("A build without a run stays a proposal, whatever the words", () => {
    const { message, landed: times } = played([built, complete({ proposal: true, saved: false, result: "I ran it." })]);
    expect(times).toBe(0);
    expect(message.proposal?.state).toBe("pending");
  });

  it("is one step to undo, and is what the server saved", async () => {
    scripted([
      built,
      started,
      ran,
      landed,
      complete({ saved: true, runs, flow: CHATBOT, proposal: false, revision: 2 }),
    ]);
    const { conversation, draft, nodes } = talk();
    await conversation.say("rode ele");
    expect(nodes()).toEqual(["heard", "said"]);
    expect(draft.getState()).toMatchObject({ revision: 2, saveState: "saved", holds: 0 });
    expect(draft.getState().past).toHaveLength(1);
    draft.getState().undo();
    expect(nodes()).toEqual([]);
  });
});

describe("live changes", () => {
  const LIVE = [
    add("input", "ChatInput"),
    add("agent", "Agent"),
    update({ action: "connect", edge }),
    update({ action: "configure", component_id: "agent", params: { instructions: "Be brief." } }),
  ];

  it("Inline build tasks for live canvas mutations", async () => {
    scripted([...LIVE, complete({ saved: false, proposal: false })]);
    const { conversation, answer, draft } = talk(ECHO);
    await conversation.say("put an agent between the two");
    expect(answer().tasks.map((task) => task.kind)).toEqual(["add", "add", "connect", "configure"]);
    expect(draft.getState().document.nodes.agent?.params).toEqual({ instructions: "Be brief." });
    expect(draft.getState().past).toHaveLength(1);
    draft.getState().undo();
    expect(draft.getState().document.order).toEqual(["ask", "answer"]);
  });

  it("Build task dedup against backend re-emissions", () => {
    const { message } = played([add("input", "ChatInput"), add("input", "ChatInput"), ...LIVE]);
    expect(message.tasks.map((task) => task.key)).toEqual([
      "add:input",
      "add:agent",
      "connect:ask.text>agent.input",
      "configure:agent",
    ]);
  });

  it("Build tasks do NOT include set_flow or edit_field", () => {
    const edit = { id: "e", component_id: "ask", component_type: "TextInput", field: "text", description: "" };
    const { message } = played([
      update({ action: "set_flow", flow: CHATBOT, auto_apply: true }),
      update({ action: "edit_field", ...edit, old_value: "a", new_value: "b", patch: [] }),
    ]);
    expect(message.tasks).toEqual([]);
    expect(message.edits).toHaveLength(1);
  });

  it("Build tasks isolated across messages", async () => {
    scripted([...LIVE, complete()], [complete({ result: "Nothing more." })]);
    const { conversation, answer, state } = talk(ECHO);
    await conversation.say("put an agent in");
    const before = answer();
    await conversation.say("what is it?");
    expect(answer().tasks).toEqual([]);
    expect(state().messages.find((one) => one.id === before.id)).toMatchObject({ tasks: before.tasks });
  });

  it("keep what the person changed meanwhile, and are saved after the turn", async () => {
    scripted([
      add("agent", "Agent"),
      complete({ saved: false, flow: flowOf("Echo", "ask: ChatInput"), proposal: false }),
    ]);
    const { conversation, draft, store } = talk(ECHO);
    store.subscribe((state, before) => {
      const tasks = (one: typeof state) => (one.messages[1]?.role === "assistant" ? one.messages[1].tasks.length : 0);
      if (tasks(state) > tasks(before)) draft.getState().setLabel("ask", "Mine");
    });
    await conversation.say("add an agent");
    expect(draft.getState().document.nodes.ask?.label).toBe("Mine");
    expect(draft.getState().document.order).toContain("agent");
  });
});

describe("Orchestrating indicator on multi-step prompts", () => {
  it("stands beside the single steps until the end", () => {
    const going = played([progress("understanding"), progress("orchestrating"), progress("building_flow")]).message;
    expect(going).toMatchObject({ orchestrating: true, stage: { step: "building_flow" } });
    expect(played([progress("orchestrating"), complete()]).message.orchestrating).toBe(false);
  });
});

describe("the end of a turn", () => {
  it("tells usage and time, over every turn of the request", () => {
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
    const { message } = played([complete({ usage, duration_seconds: 1.5 }), complete({ usage, duration_seconds: 2 })]);
    expect(message).toMatchObject({ usage: { total_tokens: 10 }, seconds: 3.5 });
  });

  it("says what went wrong and what to do", async () => {
    scripted([{ event: "error", message: "The key is wrong.", code: "model_key_rejected", remedy: "Set another." }]);
    const { conversation, answer } = talk();
    await conversation.say("hello");
    expect(answer()).toMatchObject({
      status: "failed",
      problem: { message: "The key is wrong.", remedy: "Set another." },
    });
  });

  it("says what to do when too many turns are at work, and can be asked again", async () => {
    const { sent } = scripted([complete({ result: "Done." })]);
    const remedy = "Wait until one of them is done, or stop one, and send this again.";
    const problem = {
      code: "too_many_turns",
      title: "Too many concurrent turns",
      status: 429,
      detail: "You have 5.",
      remedy,
    };
    server.use(http.post("*/agentic/assist/stream", () => HttpResponse.json(problem, { status: 429 }), { once: true }));
    const { conversation, answer, state } = talk();
    await conversation.say("hello");
    expect(answer()).toMatchObject({ status: "failed", problem: { message: "You have 5.", remedy } });
    expect(state().working).toBeNull();
    await conversation.say("hello");
    expect(answer()).toMatchObject({ status: "done", text: "Done." });
    expect(sent).toHaveLength(1);
  });

  it("says so when the stream ends before the turn did", async () => {
    scripted([progress("generating_flow")]);
    const { conversation, answer, state, draft } = talk();
    await conversation.say("hello");
    expect(answer()).toMatchObject({ status: "failed", problem: { code: "offline" } });
    expect(state().working).toBeNull();
    expect(draft.getState().holds).toBe(0);
  });

  it("asks nothing while the draft cannot be saved", async () => {
    const { sent } = scripted();
    const { conversation, answer, draft } = talk();
    draft.getState().setFlush(() => Promise.resolve(false));
    await conversation.say("hello");
    expect(sent).toEqual([]);
    expect(answer().problem?.code).toBe("unsaved");
  });
});
