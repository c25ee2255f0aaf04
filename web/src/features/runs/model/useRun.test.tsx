import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import type { PropsWithChildren } from "react";
import { expect, it } from "vitest";
import { runKeys } from "@/api/queries/runs";
import { server } from "@/testing/server";
import { useRun } from "./useRun";

it("says nothing of a lost line once the answer has told that the run is over", async () => {
  const run = { id: "run-1", flow_id: "flow-1", status: "running", steps: [] };
  server.use(
    http.get("*/api/v1/flow-runs/run-1", () => HttpResponse.json(run)),
    http.get("*/api/v1/flow-runs/run-1/events", () => HttpResponse.error()),
  );
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: PropsWithChildren) => (
    <QueryClientProvider client={queries}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useRun("run-1"), { wrapper });
  await waitFor(() => expect(result.current.connection).toBe("reconnecting"));
  act(() => queries.setQueryData(runKeys.one("run-1"), { ...run, status: "completed" }));
  await waitFor(() => expect(result.current.run?.status).toBe("completed"));
  expect(result.current.connection).toBe("closed");
});
