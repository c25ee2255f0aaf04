import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { reportPageMetrics } from "@/api/queries/assistant";
import { server } from "@/testing/server";
import { pageMetrics } from "./pageMetrics";

it("sends what happened in one batch, once, and nothing where nothing happened", async () => {
  const batches: unknown[] = [];
  const arrived = new Promise<void>((done) => {
    server.use(
      http.post("*/api/v1/agentic/page-metrics", async ({ request }) => {
        batches.push(await request.json());
        done();
        return new HttpResponse(null, { status: 204 });
      }),
    );
  });
  pageMetrics.to(reportPageMetrics);
  pageMetrics.count("plan_dismiss");
  pageMetrics.count("plan_dismiss");
  pageMetrics.count("input_history_recall");
  pageMetrics.applied(12.34);
  pageMetrics.skipAll(true);
  pageMetrics.send();
  pageMetrics.send();
  await arrived;
  expect(batches).toEqual([{ counts: { plan_dismiss: 2, input_history_recall: 1 }, apply_ms: [12.3], skip_all: true }]);
});
