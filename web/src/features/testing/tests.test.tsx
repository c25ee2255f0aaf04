import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { TestResult } from "@/api/queries/tests";
import { server } from "@/testing/server";
import { GREETS, kept, serve, set, show } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

const RESULT: TestResult = {
  id: "result-1",
  flow_id: "flow-1",
  version: 3,
  logic_checksum: "a",
  set_checksum: "b",
  trials: 2,
  status: "running",
  reason: "",
  started_by: null,
  started_at: "2026-01-01T00:00:00Z",
  finished_at: null,
  of: 2,
  done: 0,
  failures: 0,
  lines: [],
};
const LINE = { position: 0, name: "greets", answer: "Hi", error: "", ms: 5, tokens: 0 };

beforeEach(serve);

describe("the tests of a flow", () => {
  it("begin with what a test is, and are added in fields", async () => {
    const user = userEvent.setup();
    show({ form: [{ id: "who", type: "text", label: "Who is it?" }] });
    await user.click(await screen.findByRole("button", { name: "Add a test" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText(/^Name/), "greets");
    await user.type(dialog.getByLabelText("Input"), "hello");
    await user.type(dialog.getByLabelText("Who is it?"), "Ada");
    await user.type(dialog.getByLabelText("contains"), "Hi");
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    expect(await screen.findByText("Input “hello” with form answers")).toBeInTheDocument();
    expect(screen.getByText("The answer contains “Hi”")).toBeInTheDocument();
    expect(kept.cases).toEqual([
      {
        name: "greets",
        text: "hello",
        form: { who: "Ada" },
        file_ids: [],
        expect: expect.objectContaining({ contains: ["Hi"], excludes: [], equals: null, judge_model: "" }),
      },
    ]);
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("have names of their own, and need one", async () => {
    kept.cases = [GREETS];
    const user = userEvent.setup();
    show();
    await user.click(await screen.findByRole("button", { name: "Add a test" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    expect(dialog.getByText("Enter a name for the test.")).toBeInTheDocument();
    await user.type(dialog.getByLabelText(/^Name/), "greets{Enter}");
    expect(dialog.getByText("Another test already has this name.")).toBeInTheDocument();
    expect(kept.cases).toEqual([GREETS]);
  });

  it("are changed and removed", async () => {
    kept.cases = [GREETS];
    const user = userEvent.setup();
    show();
    await user.click(await screen.findByRole("button", { name: "Edit “greets”" }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByLabelText("does not contain")).toHaveValue("bye");
    await user.clear(dialog.getByLabelText("contains"));
    await user.type(dialog.getByLabelText("contains"), "Hello");
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    expect(await screen.findByText("The answer contains “Hello”, does not contain “bye”")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Remove “greets”" }));
    expect(await screen.findByText("No tests yet")).toBeInTheDocument();
    expect(kept.cases).toEqual([]);
  });

  it("that do not come are no empty page, and are asked for again", async () => {
    const broken = { code: "down", title: "Down for a moment", status: 503, detail: "" };
    server.use(http.get("*/api/v1/flows/flow-1/tests", () => HttpResponse.json(broken, { status: 503 })));
    const user = userEvent.setup();
    show();
    expect(await screen.findByText("Down for a moment")).toBeInTheDocument();
    server.use(http.get("*/api/v1/flows/flow-1/tests", () => HttpResponse.json(set())));
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText("No tests yet")).toBeInTheDocument();
  });

  it("whose results do not come say so", async () => {
    kept.cases = [GREETS];
    const broken = { code: "down", title: "Down for a moment", status: 503, detail: "" };
    server.use(http.get("*/api/v1/flows/flow-1/tests/results", () => HttpResponse.json(broken, { status: 503 })));
    show();
    expect(await screen.findByText("Down for a moment")).toBeInTheDocument();
    expect(screen.queryByText("Not run yet")).toBeNull();
  });

  it("are run, told of while they are, and each trial leads to its run", async () => {
    kept.cases = [GREETS];
    const asked = vi.fn();
    server.use(
      http.post("*/api/v1/flows/flow-1/tests/run", async ({ request }) => {
        asked(await request.json());
        kept.results = [RESULT];
        return HttpResponse.json(RESULT, { status: 202 });
      }),
    );
    const user = userEvent.setup();
    show({ settings: { widget: {}, icon: "", require_tests: true, required_trials: 2 } });
    await user.click(await screen.findByRole("button", { name: "Run the tests" }));
    expect(await screen.findByText("0 of 2 trials finished")).toBeInTheDocument();
    expect(asked).toHaveBeenCalledExactlyOnceWith({ trials: 2, wait: false });
    const lines = [
      { ...LINE, trial: 1, passed: true, misses: [], run_id: "run-1" },
      { ...LINE, trial: 2, passed: false, misses: ["does not contain 'Hi'"], run_id: "run-2" },
    ];
    kept.results = [{ ...RESULT, status: "failed", done: 2, failures: 1, lines }];
    expect(await screen.findByText("1 of 2 trials failed", {}, { timeout: 4000 })).toBeInTheDocument();
    expect(screen.getByText("Trial 2: the answer does not contain “Hi”")).toBeInTheDocument();
    const failed = screen.getByRole("link", { name: "greets, trial 2: failed" });
    expect(failed).toHaveAttribute("href", "/flows/flow-1/runs/run-2");
    expect(screen.getByRole("link", { name: "greets, trial 1: passed" })).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Run the tests" })).toBeEnabled();
  });

  it("are made of a run, whose answer can be expected", async () => {
    kept.cases = [GREETS];
    const user = userEvent.setup();
    show(
      {},
      { test: { name: "greets", text: "hello", form: {}, file_ids: ["file-1"], expect: {} }, answer: "Hi there" },
    );
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByLabelText(/^Name/)).toHaveValue("greets 2");
    expect(await dialog.findByRole("link", { name: /^Download note\.txt/ })).toBeInTheDocument();
    await user.click(dialog.getByRole("button", { name: "Expect exactly this" }));
    await user.click(dialog.getByRole("button", { name: "Save test" }));
    await waitFor(() => expect(kept.cases).toHaveLength(2));
    expect(kept.cases[1]?.expect?.equals).toBe("Hi there");
    expect(kept.cases[1]?.file_ids).toEqual(["file-1"]);
    expect(await screen.findByText("Input “hello” with a file")).toBeInTheDocument();
  });

  it("are given files, beside the text and in the form", async () => {
    const user = userEvent.setup();
    show({ form: [{ id: "paper", type: "document", label: "The paper" }] });
    await user.click(await screen.findByRole("button", { name: "Add a test" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByLabelText(/^Name/), "reads");
    await user.upload(dialog.getByLabelText("Files"), new File(["loose"], "loose.txt"));
    expect(await dialog.findByRole("link", { name: /^Download upload-0\.txt/ })).toBeInTheDocument();
    await user.upload(dialog.getByLabelText("The paper"), new File(["paper"], "paper.pdf"));
    expect(await dialog.findByRole("link", { name: /^Download upload-1\.txt/ })).toBeInTheDocument();
    await user.click(await dialog.findByRole("button", { name: "Save test" }));
    await waitFor(() => expect(kept.cases).toHaveLength(1));
    expect([kept.cases[0]?.file_ids, kept.cases[0]?.form]).toEqual([["upload-0"], { paper: "upload-1" }]);
    await user.click(screen.getByRole("button", { name: "Edit “reads”" }));
    const again = within(await screen.findByRole("dialog"));
    await user.click(again.getByRole("button", { name: "Remove the file" }));
    await user.click(again.getByRole("button", { name: "Save test" }));
    await waitFor(() => expect(kept.cases[0]?.file_ids).toEqual([]));
  });

  it("are required by the draft's settings, as one more change of it", async () => {
    kept.cases = [GREETS];
    const user = userEvent.setup();
    const { store } = show();
    await user.click(await screen.findByLabelText("Require passing tests before publishing"));
    expect(store.getState().document.settings.require_tests).toBe(true);
    expect(screen.getByLabelText("Required trials")).toBeInTheDocument();
    expect(screen.getByText("The current draft has not passed these tests yet.")).toBeInTheDocument();
  });

  it("are only looked at by who may not change the flow", async () => {
    kept.cases = [GREETS];
    kept.permissions = [];
    show();
    expect(await screen.findByText(/You have read access to these tests/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Edit “greets”" })).toBeNull();
    expect(screen.getByRole("button", { name: "Run the tests" })).toBeDisabled();
    expect(screen.getByLabelText("Require passing tests before publishing")).toBeDisabled();
  });
});
