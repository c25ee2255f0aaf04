import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { usePanels } from "@/lib/panels";
import { removeStored } from "@/lib/storage";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { AssistantDock } from "./index";
import type { TurnEvent } from "./model/wire";
import { complete, scripted } from "./scripted";

const TEMPLATE = { type: "Sum", label: "Sum", description: "", category: "own" };
const REACH = { hosts: ["api.example.org"], secrets: ["key"], files: false, imports: ["headgate"] };

const proposed = (code: string): TurnEvent => ({
  event: "flow_update",
  action: "propose_component",
  id: "p1",
  class_name: "Sum",
  description: "Adds.",
  code,
  reach: REACH,
  note: "",
  attempts: 1,
  expires_at: "2026-11-24T00:00:00Z",
});

const made = (code: string) => ({
  result: "It passed.",
  class_name: "Sum",
  component_code: code,
  component_proposal: "p1",
});

/** What is saved, and a server that saves it. */
function savesComponents() {
  const saved: unknown[] = [];
  server.use(
    http.post("*/api/v1/agentic/components", async ({ request }) => {
      saved.push(await request.json());
      return HttpResponse.json({ type: "Sum", template: TEMPLATE, kept: true, not_kept: "" }, { status: 201 });
    }),
  );
  return saved;
}

vi.setConfig({ testTimeout: 20_000 });
beforeEach(() => usePanels.getState().setOpen("assistant", true));
afterEach(() => {
  for (const key of ["assistant.flow-1", "assistant.history", "assistant.skip-all"]) removeStored(key);
});

async function open() {
  const user = userEvent.setup();
  const found = renderStudio(<AssistantDock />, {});
  const input = await screen.findByRole<HTMLTextAreaElement>(
    "combobox",
    { name: "Message to the assistant" },
    { timeout: 10_000 },
  );
  return { user, input, ...found };
}

describe("a component that the assistant proposes", () => {
  it("Skip-all renders validated component result without Continue gate", async () => {
    const saved = savesComponents();
    const code = "class Sum(Component):\n    key: SecretStr = field()\n";
    scripted([proposed(code), complete({ ...made(code), continuation_expected: false })]);
    const { user, input } = await open();
    await user.type(input, "/skip-all{Enter}");
    await user.type(input, "make a component{Enter}");
    const card = await screen.findByRole("region", { name: "Component Sum" });
    expect(within(card).getByText("api.example.org")).toBeVisible();
    expect(within(card).getByText("key")).toBeVisible();
    await within(card).findByText("Saved");
    expect(saved).toEqual([{ code, proposal_id: "p1" }]);
    expect(screen.queryByRole("button", { name: "Continue" })).toBeNull();
  });

  it("shows a component and what it may reach, and saves it only when it is accepted", async () => {
    const saved = savesComponents();
    const code = "class Sum(Component):\n    pass\n";
    scripted([proposed(code), complete(made(code))]);
    const { user, input, store } = await open();
    await user.type(input, "make a component{Enter}");
    const card = await screen.findByRole("region", { name: "Component Sum" });
    const reach = within(card).getByRole("region", { name: "What it can access" });
    expect(reach).toHaveTextContent("Hostsapi.example.orgSecretskeyFilesNoneImportsheadgate");
    expect(within(card).getByText(/Nothing is saved yet/)).toBeVisible();
    expect(within(card).queryByRole("button", { name: "Add to the canvas" })).toBeNull();
    expect(saved).toEqual([]);
    await user.click(within(card).getByRole("button", { name: "Save component" }));
    await within(card).findByText("Saved");
    expect(saved).toEqual([{ code, proposal_id: "p1" }]);
    expect(store.getState().templates.Sum).toEqual(TEMPLATE);
  });

  it("continues with what waited for a component once it is saved, and not when it is dismissed", async () => {
    savesComponents();
    const code = "class Sum(Component):\n    pass\n";
    const turn = () => [proposed(code), complete({ ...made(code), continuation_expected: true })];
    const { sent } = scripted(turn(), [complete({ result: "Built." })], turn());
    const { user, input } = await open();
    await user.type(input, "make a component and a flow{Enter}");
    await user.click(await screen.findByRole("button", { name: "Save component" }));
    await screen.findByText("Built.");
    expect(sent.map((one) => one.input_value)).toEqual([
      "make a component and a flow",
      "User saved the proposed component. Continue with the remaining steps.",
    ]);
    await user.type(input, "another{Enter}");
    await user.click(await screen.findByRole("button", { name: "Dismiss" }));
    expect(await screen.findByText("Dismissed")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Save component" })).toBeNull();
    expect(sent).toHaveLength(3);
  });

  it("checks edited code and shows what it may reach before it can be saved", async () => {
    const saved = savesComponents();
    const code = "class Sum(Component):\n    pass\n";
    scripted([proposed(code), complete(made(code))]);
    const answers = [
      { ok: false, findings: [{ line: 2, message: "Use no os", remedy: "Use Python." }] },
      {
        ok: true,
        type: "Sum",
        proposal_id: "p2",
        reach: { hosts: ["other.example"], secrets: [], files: true, imports: [] },
      },
    ];
    server.use(http.post("*/api/v1/agentic/components/proposals", () => HttpResponse.json(answers.shift())));
    const { user, input } = await open();
    await user.type(input, "make a component{Enter}");
    const card = await screen.findByRole("region", { name: "Component Sum" });
    await user.click(within(card).getByRole("button", { name: "Edit code" }));
    expect(within(card).queryByRole("button", { name: "Save component" })).toBeNull();
    await user.click(within(card).getByRole("button", { name: "Check code" }));
    expect(await within(card).findByText("Problems")).toBeVisible();
    expect(within(card).getAllByText(/Use no os/)).not.toEqual([]);
    expect(within(card).queryByRole("button", { name: "Save component" })).toBeNull();
    await user.click(within(card).getByRole("button", { name: "Edit code" }));
    await user.click(within(card).getByRole("button", { name: "Check code" }));
    expect(await within(card).findByText("other.example")).toBeVisible();
    expect(within(card).getByText("Files of the run")).toBeVisible();
    await user.click(within(card).getByRole("button", { name: "Save component" }));
    await within(card).findByText("Saved");
    expect(saved).toEqual([{ code, proposal_id: "p2" }]);
  });

  it("adds a saved component with its code, as the sandbox described it", async () => {
    savesComponents();
    const code = "class Sum(Component):\n    pass\n";
    scripted([proposed(code), complete(made(code))]);
    server.use(
      http.post("*/api/v1/components/check", () =>
        HttpResponse.json({ ok: true, type: "Sum", template: TEMPLATE, findings: [] }),
      ),
    );
    const { user, input, store } = await open();
    await user.type(input, "make a component{Enter}");
    await user.click(await screen.findByRole("button", { name: "Save component" }));
    await user.click(await screen.findByRole("button", { name: "Add to the canvas" }));
    await waitFor(() => expect(store.getState().document.nodes.sum).toMatchObject({ type: "Sum", code }));
    expect(store.getState().templates.Sum).toEqual(TEMPLATE);
  });
});
