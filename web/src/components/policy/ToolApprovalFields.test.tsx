import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { useDraft } from "@/lib/draft";
import { emptyNode } from "@/lib/draft/emptyNode";
import { renderStudio } from "@/testing/render";
import { ToolApprovalFields } from "./ToolApprovalFields";

function Policy() {
  return (
    <output>{JSON.stringify(useDraft((state) => state.document.nodes.helper?.policy?.tool_approval ?? null))}</output>
  );
}

const policy = () => JSON.parse(screen.getByRole("status").textContent ?? "null");

describe("approval of tool calls", () => {
  it("is set for all tools with who decides, and removed again", async () => {
    renderStudio(
      <>
        <ToolApprovalFields nodeId="helper" />
        <Policy />
      </>,
      { flow: { nodes: [{ ...emptyNode(), id: "helper", type: "Agent" }] } },
    );
    const user = userEvent.setup();
    await user.click(await screen.findByRole("radio", { name: "All tools" }));
    expect(policy()).toEqual({ tools: ["*"] });
    await user.type(screen.getByLabelText("Assignees"), "role:owner");
    await user.click(screen.getByRole("switch", { name: /Arguments can be changed/ }));
    expect(policy()).toEqual({ tools: ["*"], assignees: ["role:owner"], editable: true });
    await user.clear(screen.getByLabelText("Approvals needed"));
    await user.type(screen.getByLabelText("Approvals needed"), "2");
    await user.tab();
    expect(policy()).toMatchObject({ needed: 2, editable: false });
    expect(screen.getByRole("switch", { name: /Arguments can be changed/ })).toBeDisabled();
    await user.click(screen.getByRole("radio", { name: "None" }));
    expect(policy()).toBeNull();
  });
});
