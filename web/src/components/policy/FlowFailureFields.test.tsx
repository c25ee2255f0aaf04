import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { useDraft } from "@/lib/draft";
import { renderStudio } from "@/testing/render";
import { FlowFailureFields } from "./FlowFailureFields";

function Deadline() {
  return <output>{useDraft((state) => state.document.settings.run_deadline_seconds) ?? "none"}</output>;
}

describe("what follows failures in all steps of a flow", () => {
  it("sets how long a run may take, and takes the deadline away again", async () => {
    renderStudio(
      <>
        <FlowFailureFields />
        <Deadline />
      </>,
      { flow: {} },
    );
    const box = await screen.findByLabelText("Deadline of a run (seconds)");
    await userEvent.type(box, "90");
    await userEvent.tab();
    expect(screen.getByRole("status")).toHaveTextContent("90");
    await userEvent.clear(screen.getByLabelText("Deadline of a run (seconds)"));
    await userEvent.tab();
    expect(screen.getByRole("status")).toHaveTextContent("none");
  });
});
