import { afterEach, expect, it, vi } from "vitest";
import { pageMetrics } from "@/lib/pageMetrics";
import { removeStored } from "@/lib/storage";
import { CHATBOT, complete, scripted, talk, update } from "./scripted";

afterEach(() => {
  removeStored("assistant.skip-all");
  vi.restoreAllMocks();
});

function counted() {
  const count = vi.spyOn(pageMetrics, "count").mockImplementation(() => undefined);
  const applied = vi.spyOn(pageMetrics, "applied").mockImplementation(() => undefined);
  const skipAll = vi.spyOn(pageMetrics, "skipAll").mockImplementation(() => undefined);
  return { names: () => count.mock.calls.map(([name]) => name), applied, skipAll };
}

const last = (state: ReturnType<typeof talk>["state"]) => state().messages.at(-1)?.id ?? "";

it("counts proposals that are added or dismissed, how long adding took, and changes that join them", async () => {
  const { names, applied } = counted();
  const proposal = [
    update({ action: "set_flow", flow: CHATBOT }),
    update({ action: "remove_component", component_id: "nobody" }),
    complete({ result: "Built.", flow: CHATBOT, proposal: true }),
  ];
  scripted(proposal, proposal);
  const { conversation, state } = talk();
  await conversation.say("build it");
  expect(conversation.take(last(state), "add")).toBe(true);
  await conversation.say("again");
  conversation.dismissProposal(last(state));
  expect(names()).toEqual([
    "flow_tail_update_buffered",
    "flow_proposal_continue",
    "flow_tail_update_buffered",
    "flow_proposal_dismiss",
  ]);
  await vi.waitFor(() => expect(applied).toHaveBeenCalledOnce());
});

it("counts plans that are refined and given up, and recalled requests", async () => {
  const { names } = counted();
  scripted([update({ action: "propose_plan", markdown: "1." }), complete({ result: "I wait.", plan: "1." })]);
  const { conversation, state } = talk();
  await conversation.say("plan it");
  const id = last(state);
  await conversation.decidePlan(id, "dismiss");
  await conversation.decidePlan(id, "reset");
  expect(state().recall("older")).toBe(true);
  expect(names()).toEqual(["plan_dismiss", "plan_reset", "input_history_recall"]);
});

it("counts when every gate is hidden, and plans that are approved for it", async () => {
  const { names, skipAll } = counted();
  scripted(
    [update({ action: "propose_plan", markdown: "1." }), complete({ result: "I wait.", plan: "1." })],
    [complete({ result: "Built." })],
  );
  const { conversation } = talk();
  await conversation.say("/skip-all");
  await conversation.say("plan it");
  expect(names()).toEqual(["skip_all_toggle", "skip_all_auto_approve"]);
  expect(skipAll).toHaveBeenCalledWith(true);
  talk();
  expect(skipAll).toHaveBeenCalledTimes(2);
});
