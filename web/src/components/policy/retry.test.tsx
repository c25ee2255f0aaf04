import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderStudio } from "@/testing/render";
import { type Retry, RetryFields } from "./RetryFields";

function Fields() {
  const [retry, setRetry] = useState<Retry>({ max_attempts: 2 } as Retry);
  return (
    <>
      <RetryFields retry={retry} onChange={setRetry} />
      <output>{(retry.codes ?? []).join(" ") || "none"}</output>
    </>
  );
}

it("completes known error codes, several one after the other", async () => {
  renderStudio(<Fields />);
  const box = await screen.findByLabelText("Error codes to retry");
  await userEvent.type(box, "step_ti");
  await userEvent.click(screen.getByRole("button", { name: "step_timeout" }));
  expect(box).toHaveValue("step_timeout ");
  expect(box).toHaveFocus();
  await userEvent.type(box, "rate_lim");
  const known = within(screen.getByRole("list", { name: "Known codes" }));
  expect(known.getAllByRole("button").map((button) => button.textContent)).toEqual([
    "rate_limited",
    "model_rate_limited",
  ]);
  await userEvent.click(known.getByRole("button", { name: "model_rate_limited" }));
  await userEvent.tab();
  expect(screen.getByRole("status")).toHaveTextContent("step_timeout model_rate_limited");
});
