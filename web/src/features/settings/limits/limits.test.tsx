import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Quota } from "@/api/queries/quotas";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { LimitsSection } from "./LimitsSection";

vi.setConfig({ testTimeout: 20_000 });

const TENANT: Quota = {
  quota: "runs",
  scope: "tenant",
  space_id: null,
  space_name: null,
  most: 10,
  stored: 10,
  ceiling: 100,
  used: 4,
  resets_at: null,
};
const SALES: Quota = { ...TENANT, scope: "space", space_id: "s1", space_name: "Sales", most: 3, used: 3, stored: 3 };
const VISITOR: Quota = { ...TENANT, scope: "visitor", most: 20, stored: null, ceiling: 20, used: null };

function serve(quotas: () => Quota[]) {
  server.use(
    http.get("*/api/v1/quotas", () => HttpResponse.json({ items: quotas(), next_cursor: null })),
    http.get("*/api/v1/circuits", () => HttpResponse.json({ items: [], next_cursor: null })),
  );
}

it("shows what is used of each limit, and of a full one that it is full", async () => {
  serve(() => [
    TENANT,
    { ...TENANT, quota: "tokens_per_day", most: null, stored: null, ceiling: null, used: 1200 },
    SALES,
    VISITOR,
  ]);
  renderStudio(<LimitsSection />);
  const ours = await screen.findByRole("list", { name: "Organisation" });
  expect(within(ours).getByText("4 of 10 used")).toBeVisible();
  expect(within(ours).getByRole("progressbar")).toHaveAttribute("aria-valuenow", "40");
  expect(ours).toHaveTextContent("1,200 used · No limit");
  expect(within(screen.getByRole("list", { name: "Sales" })).getByText("3 of 3 used")).toHaveClass("text-bad");
  expect(within(screen.getByRole("list", { name: "Each visitor" })).getByText("At most 20")).toBeVisible();
});

it("sets a limit, shows why it cannot be set, and removes it with an empty field", async () => {
  let quota = SALES;
  const sent = vi.fn();
  serve(() => [quota]);
  server.use(
    http.put("*/api/v1/quotas", async ({ request }) => {
      const body = (await request.json()) as { most: number | null };
      sent(body);
      if (body.most !== null && body.most > 100) {
        return HttpResponse.json(
          {
            title: "Invalid limit",
            detail: "The operator of the server allows at most 100.",
            code: "quota_invalid",
          },
          { status: 422 },
        );
      }
      quota = { ...quota, most: body.most, stored: body.most };
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<LimitsSection />);
  await user.click(await screen.findByRole("button", { name: "Change Queued and running runs: Sales" }));
  const field = await screen.findByLabelText("Queued and running runs");
  await user.clear(field);
  await user.type(field, "many");
  expect(screen.getByText("Enter a whole number.")).toBeVisible();
  await user.clear(field);
  await user.type(field, "500{Enter}");
  expect(await screen.findByText(/allows at most 100/)).toBeVisible();
  await user.clear(field);
  await user.type(field, "50{Enter}");
  expect(await screen.findByText("3 of 50 used")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Change Queued and running runs: Sales" }));
  await user.clear(await screen.findByLabelText("Queued and running runs"));
  await user.keyboard("{Enter}");
  expect(await screen.findByText("3 used")).toBeVisible();
  expect(sent).toHaveBeenLastCalledWith({ scope: "space", quota: "runs", space_id: "s1", most: null });
});

it("shows stored files in bytes that people read, and takes MB", async () => {
  const files: Quota = {
    ...TENANT,
    quota: "storage_bytes",
    most: 5 * 1024 ** 2,
    stored: 5 * 1024 ** 2,
    ceiling: null,
    used: 1024 ** 2,
  };
  const sent = vi.fn();
  serve(() => [files]);
  server.use(
    http.put("*/api/v1/quotas", async ({ request }) => {
      sent(await request.json());
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<LimitsSection />);
  const ours = await screen.findByRole("list", { name: "Organisation" });
  expect(within(ours).getByText("1 MB of 5 MB used")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Change Stored files: Organisation" }));
  const field = await screen.findByLabelText("Stored files (MB)");
  expect(field).toHaveValue("5");
  await user.clear(field);
  await user.type(field, "2.5{Enter}");
  await vi.waitFor(() => expect(sent).toHaveBeenCalledWith(expect.objectContaining({ most: 2621440 })));
});
