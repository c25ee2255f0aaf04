import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Circuit } from "@/api/queries/circuits";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { CircuitsPart } from "./CircuitsPart";

const OPEN: Circuit = {
  host: "example.org:443",
  state: "open",
  failures: 10,
  since: "2026-11-28T12:00:00Z",
  open_until: "2026-11-28T12:01:00Z",
  last_error: "http_503",
};

it("shows which hosts are not called, and resets one", async () => {
  let circuits = [OPEN];
  const reset = vi.fn();
  server.use(
    http.get("*/api/v1/circuits", () => HttpResponse.json({ items: circuits, next_cursor: null })),
    http.delete("*/api/v1/circuits/:host", ({ params }) => {
      reset(params.host);
      circuits = [];
      return new HttpResponse(null, { status: 204 });
    }),
  );
  renderStudio(<CircuitsPart />);
  const hosts = await screen.findByRole("list", { name: "Hosts and models that fail" });
  expect(hosts).toHaveTextContent("10 failures in a row, last with http_503");
  await userEvent.click(within(hosts).getByRole("button", { name: "Reset example.org:443" }));
  expect(await screen.findByText("Nothing has failed.")).toBeVisible();
  expect(reset).toHaveBeenCalledWith("example.org:443");
});
