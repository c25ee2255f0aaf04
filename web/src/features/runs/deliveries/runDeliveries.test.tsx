import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { DeliveryOut, RunOut } from "@/api/types";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { DeliveriesFailed, RunDeliveries } from "./RunDeliveries";

vi.setConfig({ testTimeout: 20_000 });

const AT = "2026-01-01T00:00:00Z";
const attempt = (attempt_no: number, status_code: number) => ({
  ...{ attempt_no, status_code, error: null, started_at: AT, finished_at: AT },
});

function delivery(id: string, more: Partial<DeliveryOut>): DeliveryOut {
  return {
    id,
    run_id: "run-1",
    flow_id: "flow-1",
    step_id: `step-${id}`,
    url: `https://${id}.example`,
    status: "delivered",
    webhook_delivered: true,
    webhook_error: null,
    idempotency_key: id,
    last_status: 200,
    created_at: AT,
    delivered_at: AT,
    next_attempt_at: null,
    attempts: [attempt(1, 200)],
    ...more,
  };
}

const FAILED: Partial<DeliveryOut> = {
  status: "failed",
  webhook_delivered: false,
  webhook_error: { code: "receiver_failed", message: "The receiver answered 503." },
  last_status: 503,
  attempts: [attempt(1, 503), attempt(2, 503)],
};
const RUN = {
  ...{ id: "run-1", flow_id: "flow-1", status: "completed", version: 1 },
  steps: ["a", "b", "c"].map((id) => ({ id: `step-${id}`, step_id: `step-${id}`, type: "Text", label: `Send ${id}` })),
} as unknown as RunOut;

/** What a run's deliveries are, for somebody with these rights; the ids that were sent again, "all" for all failed. */
function serve(deliveries: DeliveryOut[], permissions = ["runs.view", "runs.start"]) {
  const sent: string[] = [];
  let now = deliveries;
  const reopen = (ids: string[]) => {
    now = now.map((one) => (ids.includes(one.id) ? delivery(one.id, {}) : one));
    return HttpResponse.json({ deliveries: now.filter(({ id }) => ids.includes(id)) });
  };
  const spaces = [{ space_id: "space-1", permissions }];
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: [], every_space: [], spaces } })),
    http.get("*/api/v1/flow-runs/run-1/deliveries", () => HttpResponse.json({ items: now, next_cursor: null })),
    http.post("*/api/v1/flow-runs/run-1/deliveries/:id/redeliver", ({ params }) => {
      sent.push(String(params.id));
      return reopen([String(params.id)]);
    }),
    http.post("*/api/v1/flow-runs/run-1/redeliver", () => {
      sent.push("all");
      return reopen(now.filter(({ status }) => status === "failed").map(({ id }) => id));
    }),
  );
  return sent;
}

const rows = async () => within(await screen.findByRole("list", { name: "Deliveries" })).findAllByText(/^Send /);
const rowOf = async (name: string) => (await screen.findByText(name)).closest("li") as HTMLElement;

it("shows all deliveries of a run and sends a failed one again", async () => {
  const sent = serve([delivery("a", {}), delivery("b", FAILED), delivery("c", { ...FAILED, status: "cancelled" })]);
  renderStudio(<RunDeliveries run={RUN} />);
  expect((await rows()).map((one) => one.textContent)).toEqual(["Send a", "Send b", "Send c"]);
  const failed = await rowOf("Send b");
  expect(within(failed).getByText("Failed")).toBeInTheDocument();
  expect(within(failed).getByText("To https://b.example")).toBeInTheDocument();
  expect(within(failed).getByText("The receiver responded with HTTP status 503.")).toBeInTheDocument();
  expect(within(failed).getAllByText(/^Attempt \d.* · HTTP 503$/)).toHaveLength(2);
  await userEvent.setup().click(await within(failed).findByRole("button", { name: "Deliver again" }));
  await waitFor(() => expect(within(failed).getByText("Delivered")).toBeInTheDocument());
  expect(sent).toEqual(["b"]);
  expect(screen.queryByRole("button", { name: /^Deliver/ })).toBeNull();
});

it("sends all that failed again at once", async () => {
  const sent = serve([delivery("a", FAILED), delivery("b", FAILED)]);
  renderStudio(<RunDeliveries run={RUN} />);
  await userEvent.setup().click(await screen.findByRole("button", { name: "Deliver all failed again" }));
  await waitFor(() => expect(screen.getAllByText("Delivered")).toHaveLength(2));
  expect(sent).toEqual(["all"]);
});

it("offers nothing to somebody who cannot start runs", async () => {
  serve([delivery("a", FAILED), delivery("b", FAILED)], ["runs.view"]);
  renderStudio(<RunDeliveries run={RUN} />);
  expect(await rows()).toHaveLength(2);
  expect(screen.queryByRole("button", { name: /^Deliver/ })).toBeNull();
});

it("says that a run has none", async () => {
  serve([]);
  renderStudio(<RunDeliveries run={RUN} />);
  expect(await screen.findByText("No step of this run posts its output to a web address.")).toBeInTheDocument();
});

it("says on the run that deliveries failed, and leads to them", async () => {
  serve([delivery("a", FAILED), delivery("b", FAILED)]);
  const show = vi.fn();
  renderStudio(<DeliveriesFailed run={RUN} onShow={show} />);
  expect(await screen.findByText("2 deliveries failed")).toBeInTheDocument();
  await userEvent.setup().click(screen.getByRole("button", { name: "Show deliveries" }));
  expect(show).toHaveBeenCalledOnce();
});
