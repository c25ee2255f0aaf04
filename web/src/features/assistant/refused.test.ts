import { describe, expect, it } from "vitest";
import { complete, scripted, talk } from "./scripted";

const SAID = [complete({ result: "Well." })];

describe("a call that was refused after content from outside", () => {
  const REFUSED = [
    complete({
      outside: { sources: [{ kind: "web", name: "a" }], refused: [{ tool: "run_flow", detail: "Not run." }] },
    }),
  ];

  it("is shown, and allowed for one request only", async () => {
    const { sent } = scripted(REFUSED, SAID, SAID);
    const { conversation, answer } = talk();
    await conversation.say("Run it");
    expect(answer().refused).toEqual([{ tool: "run_flow", detail: "Not run." }]);
    await conversation.allowRefused(answer().id);
    await conversation.say("And now?");
    expect(sent.map((one) => [one.input_value, one.outside_allowlist])).toEqual([
      ["Run it", undefined],
      ["Run it", ["run_flow"]],
      ["And now?", undefined],
    ]);
  });
});
