import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it } from "vitest";
import { useDraft } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { FlowLimitFields } from "./FlowLimitFields";

function Settings() {
  const { run_budget, daily_budget } = useDraft((state) => state.document.settings);
  return <output>{JSON.stringify({ run_budget, daily_budget })}</output>;
}

const ALARM = { ...flowOut({ name: "Alarm" }), id: "0f000000-0000-0000-0000-000000000001", published_version: 3 };
const DRAFT = { ...flowOut({ name: "Alarm draft" }), id: "0f000000-0000-0000-0000-000000000002" };
const OWN = { ...flowOut({ name: "This one" }), published_version: 1 };

beforeEach(() => {
  const permissions = { tenant: [], every_space: ["runs.start"], spaces: [] };
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ user: { id: "u1" }, permissions })),
    http.get("*/api/v1/flows", () => HttpResponse.json({ items: [ALARM, DRAFT, OWN], next_cursor: null })),
    http.get("*/api/v1/flows/:id", ({ params }) => HttpResponse.json(params.id === ALARM.id ? ALARM : DRAFT)),
  );
});

describe("the budgets of a flow", () => {
  it("are set for a run and for a day, and are removed with their last limit", async () => {
    renderStudio(
      <>
        <FlowLimitFields />
        <Settings />
      </>,
      { flow: {} },
    );
    const run = within(await screen.findByRole("group", { name: "Budget of a run" }));
    await userEvent.type(run.getByLabelText("US dollars"), "0.5");
    await userEvent.tab();
    const day = within(screen.getByRole("group", { name: "Budget of the flow per day" }));
    await userEvent.type(day.getByLabelText("Tokens"), "2000");
    await userEvent.tab();
    expect(screen.getByRole("status")).toHaveTextContent('{"run_budget":{"usd":0.5},"daily_budget":{"tokens":2000}}');
    await userEvent.clear(run.getByLabelText("US dollars"));
    await userEvent.tab();
    expect(screen.getByRole("status")).toHaveTextContent('"run_budget":null');
  });
});

describe("the flow that is started when a run fails", () => {
  it("is one of the published flows that the user may run, and is removed again", async () => {
    const { store } = renderStudio(<FlowLimitFields />, { flow: {} });
    const picker = await screen.findByLabelText("Flow started when a run fails");
    expect(picker).toHaveTextContent("None");
    await userEvent.click(picker);
    await userEvent.click(await screen.findByRole("button", { name: /^Alarm/ }));
    expect(store.getState().document.settings.error_flow).toBe(ALARM.id);
    await waitFor(() => expect(picker).toHaveTextContent("Alarm"));
    await userEvent.click(picker);
    expect(screen.queryByRole("button", { name: /Alarm draft|This one/ })).toBeNull();
    await userEvent.click(await screen.findByRole("button", { name: "None" }));
    expect(store.getState().document.settings.error_flow).toBe("");
  });

  it("that was set by its name is shown by it", async () => {
    renderStudio(<FlowLimitFields />, { flow: { settings: { error_flow: "alarm" } } });
    await waitFor(() => expect(screen.getByLabelText("Flow started when a run fails")).toHaveTextContent("Alarm"));
  });
});
