import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Process } from "@/api/queries/processes";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ProcessesSection } from "./ProcessesSection";

const RUNNING: Process = {
  id: "alpha:7:abc",
  kind: "server",
  state: "running",
  host: "alpha",
  pid: 7,
  version: "1.0",
  started_at: "2026-11-28T12:00:00Z",
  seen_at: "2026-11-28T12:10:00Z",
  work: { runs: 2, deliveries: 1 },
  draining_at: null,
  hand_over_at: null,
};
const DEAD: Process = { ...RUNNING, id: "beta:8:def", kind: "worker", host: "beta", state: "dead", work: {} };

it("drains a server with a time to hand over, and lets it take work again", async () => {
  let first = RUNNING;
  const drained = vi.fn();
  server.use(
    http.get("*/api/v1/processes", () => HttpResponse.json({ items: [first, DEAD], next_cursor: null })),
    http.put("*/api/v1/processes/:id/drain", async ({ params, request }) => {
      drained(params.id, await request.json());
      first = { ...RUNNING, state: "draining", work: { runs: 1 }, hand_over_at: "2026-11-28T12:20:00Z" };
      return HttpResponse.json(first);
    }),
    http.delete("*/api/v1/processes/:id/drain", () => {
      first = RUNNING;
      return HttpResponse.json(first);
    }),
  );
  renderStudio(<ProcessesSection />);
  const list = await screen.findByRole("list", { name: "Processes" });
  expect(list).toHaveTextContent("2 runs, deliveries: 1");
  expect(list).toHaveTextContent("Worker on beta");
  expect(list).toHaveTextContent("not stopped in order");
  expect(within(list).getAllByRole("button")).toHaveLength(1);
  await userEvent.click(within(list).getByRole("button", { name: "Drain alpha:7:abc" }));
  const minutes = screen.getByLabelText("Hand over runs after (minutes)");
  await userEvent.type(minutes, "x");
  expect(screen.getByText("A number from 0 to 1440.")).toBeVisible();
  await userEvent.clear(minutes);
  await userEvent.type(minutes, "10");
  await userEvent.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Drain" }));
  expect(await screen.findByText("Draining")).toBeVisible();
  expect(drained).toHaveBeenCalledWith("alpha:7:abc", { hand_over_seconds: 600 });
  expect(list).toHaveTextContent("1 run");
  expect(list).toHaveTextContent("hands over");
  await userEvent.click(screen.getByRole("button", { name: "Let alpha:7:abc take work again" }));
  expect(await screen.findByText("Running")).toBeVisible();
});
