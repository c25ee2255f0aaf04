import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { useBulk } from "./useBulk";

const IDS = Array.from({ length: 450 }, (_, number) => `flow-${number}`);

function Act() {
  const apply = useBulk();
  return (
    <button type="button" onClick={() => void apply(IDS, { action: "delete", tags: [] })}>
      all
    </button>
  );
}

const Page = () => (
  <>
    <Act />
    <Toasts />
  </>
);

/** Serves at most 200 flows per request, as the server does, and refuses a request with `failing`. */
function serve(failing?: string): string[][] {
  const requests: string[][] = [];
  server.use(
    http.post("*/api/v1/flow-collections", async ({ request }) => {
      const { flow_ids } = (await request.json()) as { flow_ids: string[] };
      if (flow_ids.length > 200 || (failing !== undefined && flow_ids.includes(failing))) {
        return HttpResponse.json({ title: "Refused", detail: "Too many." }, { status: 422 });
      }
      requests.push(flow_ids);
      return HttpResponse.json({ items: flow_ids.map((flow_id) => ({ flow_id, done: true, problem: null })) });
    }),
  );
  return requests;
}

it("changes more flows than one request takes", async () => {
  const requests = serve();
  renderStudio(<Page />);
  await userEvent.click(screen.getByText("all"));
  expect(await screen.findByText("450 flows moved to the trash")).toBeVisible();
  expect(requests.map((ids) => ids.length)).toEqual([200, 200, 50]);
  expect(requests.flat()).toEqual(IDS);
});

it("reports what was done before a request failed", async () => {
  serve("flow-250");
  renderStudio(<Page />);
  await userEvent.click(screen.getByText("all"));
  await waitFor(() => expect(screen.getByText("200 flows moved to the trash")).toBeVisible());
  expect(screen.getByText("The flows could not be changed")).toBeVisible();
});
