import { describe, expect, it } from "vitest";
import type { TurnEvent } from "./model/wire";
import { complete, flowOf, scripted, talk, update } from "./scripted";

describe("proposed edits", () => {
  const FIXED = flowOf("Fixed", "ask: TextInput", "answer: ChatOutput");
  const edit = (id: string, field: string) =>
    update({
      action: "edit_field",
      id,
      component_id: "ask",
      component_type: "TextInput",
      field,
      old_value: null,
      new_value: "new",
      description: "",
      patch: [{ op: "add", path: `/nodes/7/params/${field}`, value: "new" }],
    });

  it("Edit + run continuation — approve edits, flow runs in the same request, no duplicate message", async () => {
    const run: TurnEvent = { event: "run_update", run_id: "r", kind: "run_completed", data: { text: "new" } };
    const { sent } = scripted(
      [edit("e1", "text"), complete({ result: "Accept, then I run it.", continuation_expected: true })],
      [run, complete({ result: "It said new.", runs: [{ run_id: "r", status: "completed" }] })],
    );
    const { conversation, answer, state, draft } = talk(FIXED);
    let saved = 0;
    draft.getState().setFlush(async () => {
      saved += 1;
      return true;
    });
    await conversation.say("say new in place of old, and then run it");
    await conversation.acceptEdits(answer().id, ["e1"]);
    expect(draft.getState().document.nodes.ask?.params).toEqual({ text: "new" });
    expect(saved).toBe(2);
    expect(sent[1]?.input_value).toBe("User applied the proposed edits. Continue with the remaining steps.");
    expect(state().messages).toHaveLength(2);
    expect(answer()).toMatchObject({
      text: "It said new.",
      edits: [{ state: "applied" }],
      runs: [{ status: "completed" }],
    });
  });

  it("Edit approval with no deferred step does NOT trigger a continuation", async () => {
    const { sent } = scripted([edit("e1", "text"), complete({ continuation_expected: false })]);
    const { conversation, answer } = talk(FIXED);
    await conversation.say("say new in place of old");
    await conversation.acceptEdits(answer().id, ["e1"]);
    expect(answer().edits[0]?.state).toBe("applied");
    expect(sent).toHaveLength(1);
  });

  it("go on only when none waits, and not when all were dismissed", async () => {
    const { sent } = scripted([edit("e1", "text"), edit("e2", "other"), complete({ continuation_expected: true })]);
    const { conversation, answer } = talk(FIXED);
    await conversation.say("change both and run it");
    await conversation.dismissEdits(answer().id, ["e1"]);
    expect(sent).toHaveLength(1);
    await conversation.dismissEdits(answer().id, ["e2"]);
    expect(sent).toHaveLength(1);
  });

  it("are not made in a field that somebody changed since", async () => {
    scripted([edit("e1", "text"), complete()]);
    const { conversation, answer, draft } = talk(FIXED);
    await conversation.say("say new");
    draft.getState().setParam("ask", "text", "mine");
    await conversation.acceptEdits(answer().id, ["e1"]);
    expect(answer().edits[0]?.state).toBe("stale");
    expect(draft.getState().document.nodes.ask?.params).toEqual({ text: "mine" });
  });
});
