import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { useDraft } from "@/lib/draft";
import { renderStudio } from "@/testing/render";
import { FlowLimitFields } from "./FlowLimitFields";

function Settings() {
  const { run_budget, daily_budget } = useDraft((state) => state.document.settings);
  return <output>{JSON.stringify({ run_budget, daily_budget })}</output>;
}

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
