import { expect, it } from "vitest";
import { byKind } from "./valueKinds";

it("adds up what belongs together, and keeps what it does not know", () => {
  expect(
    byKind({ "approvals.content": 2, "approval_decisions.response": 1, "variables.token": 3, "new.one": 4 }),
  ).toEqual([
    ["approvals", 3],
    ["variables", 3],
    ["new.one", 4],
  ]);
});
