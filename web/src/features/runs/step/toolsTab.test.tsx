import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import type { StepOut } from "@/api/types";
import { renderStudio } from "@/testing/render";
import { ToolsTab } from "./tabs";

test("a model call that a server asked for is shown apart from the calls of tools", () => {
  const tool_calls = [
    {
      name: "helper.sampling/createMessage",
      server: "helper",
      arguments: { model: "openai/gpt-5-mini", messages: [{ role: "user", text: "Summarize: a story" }] },
      result: "A short story.",
    },
    { name: "helper.summarize", server: "helper", arguments: {}, result: "done" },
  ];
  renderStudio(<ToolsTab step={{ tool_calls } as unknown as StepOut} />);
  expect(screen.getAllByText("Model call that the server asked for")).toHaveLength(1);
  expect(screen.getByText("A short story.")).toBeVisible();
});
