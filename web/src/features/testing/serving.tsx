import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { HttpResponse, http } from "msw";
import type { TestCase, TestResult } from "@/api/queries/tests";
import type { Flow } from "@/api/types";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import type { Proposal } from "./fromRun";
import { TestsView } from "./TestsView";

export const GREETS: TestCase = {
  name: "greets",
  text: "hello",
  form: {},
  expect: { contains: ["Hi"], excludes: ["bye"] },
};

/** The server's memory of the tests. */
export const kept = {
  uploads: 0,
  cases: [] as TestCase[],
  results: [] as TestResult[],
  permissions: ["flows.edit", "runs.test"],
};
export const set = () => ({
  revision: JSON.stringify(kept.cases),
  cases: kept.cases,
  required: false,
  required_trials: 1,
  standing: { state: kept.cases.length ? "never" : "empty", result_id: null, failed: [] },
  running: null,
});

const STALE = { code: "stale_tests", title: "The tests have changed", status: 409, detail: "" };
/** What others do after the page read the tests and before it saves them, once each. */
export const between: (() => void)[] = [];

/** Answers for a flow that has no tests yet. */
export function serve() {
  between.length = 0;
  kept.cases = [];
  kept.uploads = 0;
  kept.results = [];
  kept.permissions = ["flows.edit", "runs.test"];
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({
        permissions: { tenant: [], every_space: [], spaces: [{ space_id: "space-1", permissions: kept.permissions }] },
      }),
    ),
    http.get("*/api/v1/files/:id", ({ params }) => HttpResponse.json(stored(String(params.id), "note.txt"))),
    http.post("*/api/v1/files", () => {
      const id = `upload-${kept.uploads++}`;
      return HttpResponse.json(stored(id, `${id}.txt`), { status: 201 });
    }),
    http.get("*/api/v1/flows/flow-1/tests", () => HttpResponse.json(set())),
    http.put("*/api/v1/flows/flow-1/tests", async ({ request }) => {
      const sent = (await request.json()) as { revision: string; cases: TestCase[] };
      between.shift()?.();
      if (sent.revision !== set().revision) return HttpResponse.json(STALE, { status: 409 });
      kept.cases = sent.cases;
      return HttpResponse.json(set());
    }),
    http.get("*/api/v1/flows/flow-1/tests/results", () => HttpResponse.json({ items: kept.results })),
    http.get("*/api/v1/flows/flow-1/tests/results/:id", () => HttpResponse.json(kept.results[0])),
  );
}

const stored = (id: string, name: string) => ({ id, name, media_type: "text/plain", size_bytes: 5 });

/** The page of the tests. */
export function show(flow: Flow = {}, proposal?: Proposal) {
  const root = createRootRoute({
    component: () => (
      <>
        <TestsView proposal={proposal} />
        <Toasts />
      </>
    ),
  });
  const runs = createRoute({ getParentRoute: () => root, path: "/flows/$flowId/runs/$runId" });
  const router = createRouter({
    routeTree: root.addChildren([runs]),
    history: createMemoryHistory({ initialEntries: ["/"] }),
  });
  return renderStudio(<RouterProvider router={router as never} />, { flow });
}
