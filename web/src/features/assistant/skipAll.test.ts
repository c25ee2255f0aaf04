import { afterEach, describe, expect, it } from "vitest";
import { readStored, removeStored } from "@/lib/storage";
import { readCommand } from "./model/slash";
import { CHATBOT, complete, ECHO, scripted, talk, update } from "./scripted";

afterEach(() => removeStored("assistant.skip-all"));

describe("/skip-all", () => {
  it("/skip-all slash command toggles persistent preference", async () => {
    const { sent } = scripted();
    const { conversation, state } = talk();
    await conversation.say("  /skip-all ");
    expect(state().skipAll).toBe(true);
    expect(readStored("assistant.skip-all", false)).toBe(true);
    expect(state().messages.at(-1)).toMatchObject({ role: "note", key: "skip_on" });
    expect(talk().state().skipAll).toBe(true);
    await conversation.say("/skip-all");
    expect(state()).toMatchObject({ skipAll: false });
    expect(state().messages.at(-1)).toMatchObject({ key: "skip_off" });
    expect(sent).toEqual([]);
  });

  it("/skip-all only matches the exact command (anti-foot-gun)", async () => {
    const { sent } = scripted([complete()], [complete()]);
    const { conversation, state } = talk();
    await conversation.say("/skip-all please");
    await conversation.say("do /skip-all");
    expect(sent.map((one) => one.input_value)).toEqual(["/skip-all please", "do /skip-all"]);
    expect(state().skipAll).toBe(false);
    expect(readCommand("/Skip-all")).toBeNull();
  });

  it("Skip-all hides the plan card and reuses a single message slot", async () => {
    const { sent } = scripted(
      [
        { event: "token", chunk: "I wait." },
        update({ action: "propose_plan", markdown: "1." }),
        complete({ result: "I wait.", plan: "1." }),
      ],
      [update({ action: "set_flow", flow: CHATBOT }), complete({ result: "Built.", flow: CHATBOT, proposal: true })],
    );
    const { conversation, state, answer, store } = talk();
    state().setSkipAll(true);
    const texts = new Set<string>();
    const gaps: string[] = [];
    store.subscribe(({ messages, working }) => {
      const last = messages.at(-1);
      if (last?.role !== "assistant") return;
      texts.add(last.text);
      if (last.plan) gaps.push("plan");
      if (working === null && last.text !== "Built.") gaps.push("rest");
    });
    await conversation.say("build me a flow with an agent and a web crawler");
    expect(sent.map((one) => one.input_value)).toEqual([
      "build me a flow with an agent and a web crawler",
      "User approved the plan. Proceed with the build.",
    ]);
    expect(state().messages.map((one) => one.role)).toEqual(["user", "assistant"]);
    expect(answer()).toMatchObject({ text: "Built.", plan: null, status: "done" });
    expect(gaps).toEqual([]);
  });

  it("Skip-all applies set_flow directly to the canvas", async () => {
    scripted([
      update({ action: "set_flow", flow: CHATBOT }),
      complete({ flow: CHATBOT, proposal: true, saved: false }),
    ]);
    const { conversation, state, answer, nodes } = talk(ECHO);
    state().setSkipAll(true);
    await conversation.say("a chatbot");
    expect(nodes()).toEqual(["heard", "said"]);
    expect(answer().proposal).toBeNull();
  });
});
