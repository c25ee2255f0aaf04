import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { ReactFlowProvider } from "@xyflow/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it, vi } from "vitest";
import type { JsonValue, Template } from "@/api/types";
import { useCalledStep } from "@/lib/calledStep";
import { createDraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { rememberedRegions, toggleRegion } from "../model/regions";
import { useStage } from "../model/stage";
import { useView } from "../model/view";
import { Region } from "./Region";

const ID = "0190a000-0000-7000-8000-000000000001";
const GONE = "0190a000-0000-7000-8000-00000000dead";
const INNER = {
  name: "One line",
  nodes: [
    { id: "read", type: "ParseJSON", label: "Read the line" },
    { id: "note", type: "Note", params: { text: "No step" } },
  ],
  edges: [],
};
const RECT = { x: 0, y: 0, width: 400, height: 200 };
const EACH = {
  type: "ForEach",
  label: "For each",
  fields: [{ name: "flow", kind: "flow", label: "Flow", required: true }],
  outputs: [],
} as unknown as Template;

const child = (number: number, status: string) => ({
  id: `run-${number}`,
  flow_id: ID,
  version: 2,
  status,
  parent_iteration: number - 1,
  steps: [{ step_id: "read", status, ms: 12, error: status === "failed" ? { message: "Not JSON." } : null }],
});

let version: number | null = 2;

beforeEach(() => {
  version = 2;
  useView.getState().set({ regions: {}, entering: null });
  server.use(
    http.get(`*/api/v1/flows/${ID}`, () =>
      HttpResponse.json({ ...flowOut(INNER), id: ID, published_version: version }),
    ),
    http.get(`*/api/v1/flows/${GONE}`, () => new HttpResponse(null, { status: 403 })),
    http.get(`*/api/v1/flows/${ID}/versions/:version`, ({ params }) =>
      HttpResponse.json({ version: Number(params.version), definition: INNER }),
    ),
    http.get("*/api/v1/flow-runs", () =>
      HttpResponse.json({ items: [child(2, "failed"), child(1, "completed")], next_cursor: null }),
    ),
    http.get("*/api/v1/flow-runs/parent/relations", () =>
      HttpResponse.json({ parent: null, steps: [{ step_id: "each", total: 2, started: 2, completed: 1, failed: 1 }] }),
    ),
    http.get("*/api/v1/flow-runs/run-1", () => HttpResponse.json(child(1, "completed"))),
    http.get("*/api/v1/flow-runs/run-2", () => HttpResponse.json(child(2, "failed"))),
  );
});

function drawn(flow: JsonValue, params: Record<string, JsonValue> = {}) {
  const nodes = [{ id: "each", type: "ForEach", params: { flow, ...params } }];
  const store = createDraftStore(flowOut({ nodes, edges: [] }), [EACH]);
  function Shown() {
    const stage = useStage();
    const open = useView((state) => "each" in state.regions);
    return open && <Region stage={stage} id="each" rect={RECT} node={RECT} />;
  }
  const root = createRootRoute();
  const at = (path: string, component: () => React.ReactNode) =>
    createRoute({ getParentRoute: () => root, path, component });
  const page = () => (
    <ReactFlowProvider>
      <Shown />
    </ReactFlowProvider>
  );
  const router = createRouter({ routeTree: root.addChildren([at("/", page)]), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />, { store });
  return { store, open: () => act(async () => toggleRegion(store, "each")) };
}

it("shows the steps of the published version, takes the keyboard, and closes with Escape", async () => {
  const { open, store } = drawn(ID);
  await open();
  const region = await screen.findByRole("region", { name: "Steps of One line, version 2" });
  expect(region).toHaveFocus();
  expect(await screen.findByRole("button", { name: /Read the line/ })).toBeInTheDocument();
  expect(screen.getByRole("status")).toHaveTextContent("1 step");
  expect(screen.getByRole("link", { name: "Edit One line" })).toHaveAttribute("href", `/flows/${ID}?caller=flow-1`);
  expect(Object.keys(rememberedRegions("flow-1"))).toEqual(["each"]);
  await userEvent.keyboard("{Escape}");
  expect(screen.queryByRole("region")).not.toBeInTheDocument();
  expect(rememberedRegions("flow-1")).toEqual({});
  expect(store.getState().past).toEqual([]);
});

it("opens the settings of a chosen step, which is chosen no more once the frame is closed", async () => {
  const { open, store } = drawn(ID);
  await open();
  await userEvent.click(await screen.findByRole("button", { name: /Read the line/ }));
  const step = { caller: "flow-1", nodeId: "each", flowId: ID, stepId: "read" };
  expect(useCalledStep.getState().step).toEqual(step);
  expect(store.getState().selectedNodes).toEqual(["each"]);
  expect(usePanels.getState().open.inspector).toBe(true);
  await userEvent.click(screen.getByRole("button", { name: /Read the line/ }));
  expect(useCalledStep.getState().step).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: /Read the line/ }));
  await open();
  expect(useCalledStep.getState().step).toBeNull();
});

it("forgets the chosen step when the settings are closed: the node then shows its own", async () => {
  const { open } = drawn(ID);
  await open();
  await userEvent.click(await screen.findByRole("button", { name: /Read the line/ }));
  act(() => usePanels.getState().setOpen("run", true));
  expect(useCalledStep.getState().step?.stepId).toBe("read");
  act(() => usePanels.getState().setOpen("inspector", false));
  expect(useCalledStep.getState().step).toBeNull();
});

it("shows the version that the node names", async () => {
  const { open } = drawn({ flow_id: ID, version: 7 });
  await open();
  expect(await screen.findByRole("region", { name: "Steps of One line, version 7" })).toBeInTheDocument();
});

it("shows the states of the last run, and of the one before", async () => {
  const { open, store } = drawn(ID);
  store.getState().showRun({ id: "parent", status: "completed" }, {});
  store.getState().setNodeRun("each", { status: "completed" });
  await open();
  expect(await screen.findByRole("button", { name: /Read the line.*failed/ })).toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent("1 of 2 completed, 1 failed"));
  await userEvent.click(screen.getByRole("button", { name: /Read the line/ }));
  expect(screen.getByRole("status")).toHaveTextContent("Read the line · Failed · 12 msNot JSON.");
  expect(screen.getByRole("button", { name: "Next run" })).toBeDisabled();
  await userEvent.click(screen.getByRole("button", { name: "Previous run" }));
  expect(await screen.findByRole("button", { name: /Read the line.*completed/ })).toBeInTheDocument();
  expect(screen.getByText("1 of 2")).toBeInTheDocument();
});

it("reads again while a run is active, and not where nothing runs", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const answers = [child(2, "running"), child(2, "failed")];
  const reads: string[] = [];
  server.use(
    http.get("*/api/v1/flow-runs/run-2", () => {
      reads.push("run-2");
      return HttpResponse.json(answers[Math.min(reads.length, answers.length) - 1]);
    }),
    http.get("*/api/v1/flow-runs/run-1", () => {
      reads.push("run-1");
      return new HttpResponse(null, { status: 500 });
    }),
  );
  const { open, store } = drawn(ID);
  store.getState().showRun({ id: "parent", status: "completed" }, {});
  store.getState().setNodeRun("each", { status: "completed" });
  await open();
  await act(async () => void (await vi.advanceTimersByTimeAsync(2_000)));
  expect(await screen.findByRole("button", { name: /Read the line.*failed/ })).toBeInTheDocument();
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime });
  await user.click(screen.getByRole("button", { name: "Previous run" }));
  await act(async () => void (await vi.advanceTimersByTimeAsync(60_000)));
  expect(reads.filter((run) => run === "run-2")).toHaveLength(2);
  const failed = reads.length;
  await act(async () => void (await vi.advanceTimersByTimeAsync(60_000)));
  expect(reads).toHaveLength(failed);
  vi.useRealTimers();
});

it.each([
  ["is not to be read", GONE, 2, /you do not have access/],
  ["is not published", ID, null, /no published version/],
  ["is not chosen", "", 2, /Choose the flow/],
])("says so where the flow %s", async (_, flow, published, message) => {
  version = published;
  const { open } = drawn(flow);
  await open();
  expect(await screen.findByText(message)).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /Read the line/ })).not.toBeInTheDocument();
});
