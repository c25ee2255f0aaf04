import { describe, expect, it } from "vitest";
import type { StreamEvent } from "@/api/events";
import type { CodevSession } from "@/api/queries/codev";
import { useCodevTexts } from "../texts";
import { answersText } from "./answers";
import { readCases } from "./cases";
import type { NoteEntry } from "./history";
import { readConflict, readFound, readMissing, readVerdict } from "./known";
import { track } from "./phases";
import { askedWords } from "./said";
import { apply, begin, type LiveSession, refresh, replay } from "./session";
import { EMPTY_START, flowIdOf, startFaults, toStart } from "./startForm";
import { byCase, ownLink, webLink } from "./trial";
import { liveTrials } from "./trials";

const session = (more: Partial<CodevSession> = {}): CodevSession => ({
  thread_id: "s1",
  status: "in_progress",
  phase: "clarify",
  iteration: 1,
  domain: "headgate",
  instance_id: "",
  space_id: "s",
  requirement: "A flow",
  model: "",
  flow_id: null,
  flow_name: "",
  link: "",
  interrupt: null,
  stop_reason: "",
  total_input_tokens: 0,
  total_output_tokens: 0,
  token_budget: 1000,
  can_roll_back: false,
  can_go_on: false,
  last_event: 0,
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  state: {},
  ...more,
});

let last = 0;
const event = (kind: string, data: Record<string, unknown>): StreamEvent => {
  if (kind !== "token") last += 1;
  return { id: String(last), event: kind, data };
};
const told = (...events: [string, Record<string, unknown>][]): StreamEvent[] => {
  last = 0;
  return events.map(([kind, data]) => event(kind, data));
};
const trial = (name: string, number: number, passed = true) =>
  ["trial", { case: name, trial: number, passed, of: 2, answer: "a", misses: [], link: "/flows/f/runs/r" }] as [
    string,
    Record<string, unknown>,
  ];
const PLAN = { id: "i1", type: "plan_approval", prompt: "Approve?", data: { plan: "# P" } };
const STORY = told(
  ["phase", { phase: "discover", iteration: 1 }],
  ["tool_call", { id: "a", name: "read_flow", arguments: { id: "f" }, phase: "discover" }],
  ["tool_result", { id: "a", name: "read_flow", ok: false, preview: "gone", ms: 12 }],
  ["token", { text: "Hm", phase: "discover" }],
  ["usage", { input_tokens: 40, output_tokens: 2 }],
  ["phase", { phase: "plan", iteration: 1 }],
  ["interrupt", PLAN],
  ["phase", { phase: "patch", iteration: 1 }],
  ["write", { number: 1, tool: "apply", summary: "Made it", flow_id: "f", state: "intended" }],
  ["write", { number: 1, tool: "apply", summary: "Made it", flow_id: "f", state: "done" }],
  ["phase", { phase: "test", iteration: 1 }],
  trial("one", 1),
  trial("two", 1, false),
  ["verdict", { done: false, category: "LOGIC", reason: "r", fix: "f" }],
  ["phase", { phase: "plan", iteration: 2 }],
  ["conflict", { message: "Another user" }],
  ["webhook", { delivered: false, attempts: 3, message: "no answer" }],
  ["phase", { phase: "test", iteration: 2 }],
  trial("one", 1),
  ["done", { status: "completed", stop_reason: "" }],
);
const kinds = (live: LiveSession) => live.entries.map(({ kind }) => kind).join(" ");

describe("a session that is followed", () => {
  it("tells what happened in its order, a write and the trials of a phase once each", () => {
    const live = replay(begin(session()), STORY);
    expect(kinds(live)).toBe(
      "phase tool phase asked phase write phase trials verdict phase conflict webhook phase trials done",
    );
    expect(live.entries.find((one) => one.kind === "tool")).toMatchObject({ ok: false, preview: "gone", ms: 12 });
    expect(live.entries.find((one) => one.kind === "write")).toMatchObject({ number: 1, state: "done" });
    expect(liveTrials(live.entries, [])).toHaveLength(1);
    expect(live).toMatchObject({ status: "completed", iteration: 2, inputTokens: 40, outputTokens: 2, seen: 19 });
  });

  it("is the same however often and in however many lines it is told", () => {
    const once = replay(begin(session()), STORY);
    const twice = replay(replay(begin(session()), STORY), STORY);
    const torn = STORY.reduce(
      (live, _, at) => replay(live, STORY.slice(Math.max(0, at - 3), at + 1)),
      begin(session()),
    );
    expect(twice).toEqual(once);
    expect(torn).toEqual(once);
  });

  it("has nothing of its past change how it stands", () => {
    const resting = session({ status: "pending_interrupt", phase: "plan", interrupt: PLAN as never, last_event: 6 });
    const live = replay(begin(resting), STORY.slice(0, 7));
    expect(live).toMatchObject({ status: "pending_interrupt", interrupt: { id: "i1" }, phase: "plan", speaking: "" });
    expect(kinds(live)).toBe("phase tool phase asked");
  });

  it("waits when it is told so, and works again with the next phase", () => {
    const waiting = replay(begin(session()), STORY.slice(0, 7));
    expect(waiting).toMatchObject({ status: "pending_interrupt", interrupt: { prompt: "Approve?" } });
    expect(apply(waiting, STORY[7] as StreamEvent)).toMatchObject({ status: "in_progress", interrupt: null });
  });

  it("takes no answer that is older than what it was told", () => {
    const live = replay(begin(session()), STORY);
    expect(refresh(live, session({ last_event: 4 }))).toBe(live);
    const before = begin(session({ updated_at: "2026-01-01T00:05:00Z", last_event: 3 }));
    expect(refresh(before, session({ status: "pending_interrupt", last_event: 3 }))).toBe(before);
    const after = session({ status: "stopped", last_event: 19, updated_at: "2026-01-01T00:09:00Z", stop_reason: "x" });
    expect(refresh(live, after)).toMatchObject({ status: "stopped", stopReason: "x", entries: live.entries });
  });

  it("shows what the model says until it does something", () => {
    const [first, second] = told(["token", { text: "I look " }], ["token", { text: "around" }]);
    const said = replay(begin(session()), [first as StreamEvent, second as StreamEvent]);
    expect(said.speaking).toBe("I look around");
    expect(replay(said, told(["tool_call", { id: "a", name: "x" }])).speaking).toBe("");
    const waiting = begin(session({ status: "pending_interrupt" }));
    expect(apply(waiting, first as StreamEvent)).toBe(waiting);
  });

  it("fails with what is said and what to do", () => {
    const live = replay(begin(session()), told(["error", { code: "c", message: "No key.", remedy: "Set it." }]));
    expect(live).toMatchObject({ status: "error", stopReason: "No key. Set it." });
  });

  it("is not broken by what it does not know", () => {
    const strange = told(["new_kind", {}], ["tool_result", { id: "lost", name: "x", ok: true }], ["trial", {}]);
    const live = replay(begin(session()), [{ id: undefined, event: "phase", data: "?" }, ...strange]);
    expect(kinds(live)).toBe("tool trials");
  });
});

describe("the track", () => {
  const states = (more: object) => track({ status: "in_progress", phase: "plan", interrupt: null, ...more } as never);
  const at = (more: object, phase: string) => states(more).find((one) => one.phase === phase)?.state;
  it("says what is done, at work, and to come", () => {
    expect(at({}, "discover")).toBe("done");
    expect(at({}, "plan")).toBe("current");
    expect(at({}, "patch")).toBe("todo");
  });
  it("asks about a repair as a repair, in what happened too", () => {
    const data = { plan: "# P", verdict: { category: "LOGIC", reason: "It guessed.", fix: "Say so." } };
    const live = replay(begin(session()), told(["interrupt", { ...PLAN, data }]));
    expect(live.entries).toMatchObject([{ kind: "asked", about: "plan_repair" }]);
    expect(askedWords(useCodevTexts.now, live.entries[0] as NoteEntry)).toBe("A repair to approve");
  });
  it("waits where the question is asked, whichever phase was told last", () => {
    const asked = { status: "pending_interrupt", phase: "plan", interrupt: { type: "plan_approval" } };
    expect(at(asked, "plan")).toBe("done");
    expect(at(asked, "approve_plan")).toBe("waiting");
  });
  it("says where it failed or was stopped, and that all is done when it is", () => {
    expect(at({ status: "error", phase: "test" }, "test")).toBe("failed");
    expect(at({ status: "stopped", phase: "test" }, "test")).toBe("stopped");
    expect(states({ status: "completed", phase: "done" }).every(({ state }) => state === "done")).toBe(true);
  });
});

describe("what an interrupt holds", () => {
  it("is read with care: what is missing or strange is empty", () => {
    expect(readMissing([{ type: "k", fields: [{ name: "a" }, { label: "no name" }] }, 3])).toEqual([
      { type: "k", label: "k", where: "", fields: [{ name: "a", label: "a", secret: true, optional: false }] },
      { type: "", label: "", where: "", fields: [] },
    ]);
    expect(readVerdict(null)).toBeNull();
    expect(readConflict({ message: "m", lines: ["+ a", 2] })).toEqual({ message: "m", lines: ["+ a"] });
    expect(readCases([{ name: "" }, { name: "n" }])).toHaveLength(1);
  });
  it("has found what people read, without what is said to the server", () => {
    const said = "Two flows.\n\n**CREDENTIALS_STATUS:** MISSING\nMISSING_TYPES: CRM_TOKEN";
    expect([said, "CREDENTIALS_STATUS: OK", null].map(readFound)).toEqual(["Two flows.", "", ""]);
  });
  it("is where it was when it was stopped, though it is told to be done", () => {
    const told = ["discover", "done"].map((phase) => event("phase", { phase, iteration: 1 }));
    const live = replay(begin(session()), [...told, event("done", { status: "stopped", stop_reason: "Enough." })]);
    expect(track(live).find(({ state }) => state === "stopped")?.phase).toBe("discover");
  });
  it("has trials by case, and links that lead nowhere else", () => {
    const rows = byCase(liveTrials([], [trial("a", 2, false)[1], trial("a", 1)[1], trial("b", 1)[1]]));
    expect(rows.map(({ name, trials, passed }) => [name, trials.map((one) => one.trial), passed])).toEqual([
      ["a", [1, 2], 1],
      ["b", [1], 1],
    ]);
    expect(["/flows/f", "//evil.example", "/\\evil", "javascript:1"].map(ownLink)).toEqual(["/flows/f", "", "", ""]);
    expect(["https://f.example/x", "javascript:1", "/flows/f"].map(webLink)).toEqual(["https://f.example/x", "", ""]);
  });
});

describe("answers and the start form", () => {
  it("number what was answered and leave out what was not", () => {
    expect(answersText(["Which?", "When?"], ["", " now "], " more ")).toBe("2. When?\nnow\n\nmore");
    expect(answersText(["Which?"], [])).toBe("");
  });
  it("sends what was chosen and leaves the rest to the server", () => {
    expect(toStart({ ...EMPTY_START, requirement: " r " })).toEqual({
      requirement: "r",
      domain: "headgate",
      flow_id: null,
      test_trials: 1,
      skip_clarification: false,
      repairs_approved: false,
    });
    const flowise = { ...EMPTY_START, requirement: "r", domain: "flowise", existing: true, instanceId: "team" };
    expect(toStart({ ...flowise, flowId: "https://f.example/canvas/abc-1/?x=1", budget: "5000" })).toMatchObject({
      flow_id: "abc-1",
      instance_id: "team",
      token_budget: 5000,
    });
    expect(flowIdOf(" abc ")).toBe("abc");
  });
  it("says what is missing or wrong", () => {
    expect([...startFaults({ ...EMPTY_START, existing: true, trials: "11", budget: "x", webhook: "nope" })]).toEqual([
      "requirement",
      "flow",
      "trials",
      "budget",
      "webhook",
    ]);
    expect([...startFaults({ ...EMPTY_START, requirement: "r", domain: "flowise" })]).toEqual(["instance"]);
  });
});
