import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { forgetStored } from "@/lib/storage";
import { server } from "@/testing/server";
import { CASE, openPage, serve, session, waitingFor } from "./serving";

vi.setConfig({ testTimeout: 20_000 });
beforeEach(() => forgetStored("unsaved."));

const WRITE = { number: 1, tool: "build_flow", summary: "Made 'Greeter'", state: "done", at: "" };

const PREVIEW = {
  token: "t1",
  conflict: false,
  flows: [
    {
      flow_id: "f1",
      name: "Greeter",
      link: "/flows/f1",
      conflict: false,
      deleted: false,
      theirs: [] as string[],
      outcome: "removed",
      changes: ["- node 'words' (PromptTemplate)"],
      outcome_keeping: "unchanged",
      changes_keeping: [] as string[],
    },
  ],
};

describe("a result", () => {
  it("shows its tests and changes, and is not accepted once it was rolled back", async () => {
    const trial = { case: "Greets", trial: 1, passed: false, misses: ["does not contain 'hello'"], answer: "Bye" };
    const data = { summary: "It **greets**.", diff: ["+ Step", "~ Prompt"], trials: [trial], cases: [CASE] };
    const served = serve(waitingFor("result_review", data, { can_roll_back: true, state: { writes: [WRITE] } }));
    const rolledBack = vi.fn();
    server.use(
      http.get("*/api/v1/codev/sessions/s1/rollback", () => HttpResponse.json({ ...PREVIEW, conflict: false })),
      http.post("*/api/v1/codev/sessions/s1/rollback", async ({ request }) => {
        rolledBack(await request.json());
        const state = { writes: [{ ...WRITE, state: "rolled_back" }] };
        served.now = { ...served.now, can_roll_back: false, flow_id: null, state };
        return HttpResponse.json(served.now);
      }),
    );
    const { user } = openPage("/develop/s1");
    const card = await screen.findByRole("region", { name: "A result to review" });
    expect(within(card).getByText("The answer does not contain “hello”")).toBeInTheDocument();
    await user.click(within(card).getByRole("tab", { name: "Changes (2)" }));
    expect(within(card).getByRole("region", { name: "Changes" })).toHaveTextContent("Added: Step");
    expect(within(card).getByRole("button", { name: "Accept" })).toBeEnabled();
    await user.click(within(card).getByRole("button", { name: "Roll back" }));
    const dialog = screen.getByRole("dialog");
    expect(await within(dialog).findByText("“Greeter” is removed: the session created it.")).toBeInTheDocument();
    expect(within(dialog).getByRole("region", { name: "What would change" })).toHaveTextContent("Removed: words");
    await user.click(within(dialog).getByRole("button", { name: "Roll back" }));
    expect(await screen.findByText("“Greeter” was removed: the session created it")).toBeInTheDocument();
    expect(rolledBack).toHaveBeenCalledExactlyOnceWith({ token: "t1", choice: null });
    expect(within(card).getByText("The result has been rolled back")).toBeInTheDocument();
    expect(within(card).queryByRole("button", { name: "Accept" })).toBeNull();
    await user.click(within(card).getByRole("button", { name: "End session" }));
    await waitFor(() => expect(served.answers).toMatchObject([{ response: { accepted: false, stop: true } }]));
  });

  it("that is not judged to be done says what is left open, and can be accepted all the same", async () => {
    const verdict = { category: "INCOMPLETE", reason: "No farewell.", fix: "Add one." };
    const served = serve(waitingFor("result_review", { cases: [CASE], trials: [], verdict }));
    const { user } = openPage("/develop/s1");
    const card = await screen.findByRole("region", { name: "A result to review" });
    expect(within(card).getByText(/was not judged to be done, and no rounds or tokens are left/)).toBeInTheDocument();
    expect(within(card).getByRole("region", { name: "Not done yet" })).toHaveTextContent("No farewell.");
    await user.click(within(card).getByRole("button", { name: "Accept" }));
    await waitFor(() => expect(served.answers).toMatchObject([{ response: { accepted: true } }]));
  });

  it("that was accepted and rolled back says so, not that what was written stands", async () => {
    const taken = {
      number: 2,
      tool: "rollback",
      summary: "Rolled back: the flow is gone.",
      state: "rolled_back",
      at: "",
    };
    const state = { writes: [{ ...WRITE, state: "rolled_back" }, taken] };
    const gone = { flow_id: null, flow_name: "", link: "", state };
    const stopped = "Stopped by Kim. 1 write of this session is kept; rolling back undoes what was written.";
    serve(session({ status: "stopped", stop_reason: stopped, ...gone }));
    openPage("/develop/s1");
    const ended = await screen.findByRole("region", { name: "Stopped" });
    expect(ended).toHaveTextContent("Stopped by Kim.Rolled back: the flow that the session created was removed.");
    expect(ended).not.toHaveTextContent("stands");
    expect(screen.getByText("no flow")).toBeInTheDocument();
    expect(screen.getAllByText("rolled back")).toHaveLength(1);
  });

  it("is accepted with its tests", async () => {
    const served = serve(waitingFor("result_review", { cases: [CASE], trials: [] }));
    const { user } = openPage("/develop/s1");
    await user.click(await screen.findByRole("button", { name: "Accept" }));
    await waitFor(() => expect(served.answers).toMatchObject([{ response: { accepted: true, save_tests: true } }]));
  });
});

describe("a rollback", () => {
  it("of a flow that others changed shows how, and waiting for an answer", async () => {
    const flow = { ...PREVIEW.flows[0], conflict: true, theirs: ["~ description: '' -> 'Theirs'"] };
    const rolledBack = vi.fn();
    const served = serve(session({ status: "completed", can_roll_back: true, state: { writes: [WRITE] } }));
    server.use(
      http.get("*/api/v1/codev/sessions/s1/rollback", () =>
        HttpResponse.json({ ...PREVIEW, conflict: true, flows: [flow] }),
      ),
      http.post("*/api/v1/codev/sessions/s1/rollback", async ({ request }) => {
        rolledBack(await request.json());
        served.now = { ...served.now, can_roll_back: false };
        return HttpResponse.json(served.now);
      }),
    );
    const { user } = openPage("/develop/s1");
    await user.click(await screen.findByRole("button", { name: "Roll back" }));
    const dialog = screen.getByRole("dialog");
    expect(await within(dialog).findByRole("region", { name: /Changes by others/ })).toHaveTextContent("Theirs");
    expect(within(dialog).getByRole("button", { name: "Roll back" })).toBeDisabled();
    await user.click(within(dialog).getByRole("radio", { name: /Keep their changes/ }));
    await user.click(within(dialog).getByRole("button", { name: "Roll back" }));
    expect(await screen.findByText("“Greeter” keeps the changes by others")).toBeInTheDocument();
    expect(rolledBack).toHaveBeenCalledExactlyOnceWith({ token: "t1", choice: "keep_theirs" });
  });
});

describe("the start form", () => {
  it("says what is missing, and starts with what was chosen", async () => {
    serve(session({ status: "in_progress" }));
    const started = vi.fn();
    server.use(
      http.post("*/api/v1/codev/sessions", async ({ request }) => {
        started(await request.json(), new URL(request.url).searchParams.get("wait"));
        return HttpResponse.json(session({ status: "completed" }), { status: 201 });
      }),
    );
    const { user, router } = openPage("/develop/new");
    await user.click(await screen.findByRole("button", { name: "Start" }));
    expect(screen.getByRole("alert")).toHaveTextContent("Describe what the flow should do.");
    expect(started).not.toHaveBeenCalled();
    await user.click(await screen.findByRole("radio", { name: "Flowise" }));
    await user.type(screen.getByLabelText(/What should the flow do/), "Greet people");
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() => expect(router.state.location.pathname).toBe("/develop/s1"));
    const body = { requirement: "Greet people", domain: "flowise", instance_id: "team", flow_id: null };
    expect(started).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(body), "false");
  });
});

describe("what was written and not started", () => {
  const wish = () => screen.findByLabelText(/What should the flow do/);

  it("is there for who comes back, and what is wrong stays in view while it is mended", async () => {
    serve(session());
    const first = openPage("/develop/new");
    await first.user.type(await wish(), "A page long");
    cleanup();
    const { user } = openPage("/develop/new?domain=flowise");
    expect(await wish()).toHaveValue("A page long");
    await waitFor(() => expect(screen.getByLabelText("Flowise server")).toHaveTextContent("team (https://f.example)"));
    await user.click(screen.getByText("More options"));
    const budget = screen.getByLabelText("Token budget");
    await user.type(budget, "200");
    await user.click(screen.getByRole("button", { name: "Start" }));
    expect(budget).toHaveFocus();
    expect(screen.getByText("Enter a whole number from 1,000 to 50,000,000.")).toBeInTheDocument();
    await user.type(budget, " 000");
    expect(screen.queryByText("Enter a whole number from 1,000 to 50,000,000.")).toBeNull();
    expect(budget.closest("details")).toHaveAttribute("open");
  });

  it("is told beforehand that no model can be asked, until one can", async () => {
    serve(session());
    server.use(http.get("*/api/v1/codev/domains", () => HttpResponse.json({ items: [], model: "" })));
    openPage("/develop/new");
    expect(await screen.findByText("No model is ready")).toBeInTheDocument();
    serve(session());
    await waitFor(() => expect(screen.queryByText("No model is ready")).toBeNull());
  });
});

describe("a session that is deleted elsewhere", () => {
  it("is not shown as if it were there", async () => {
    const served = serve(waitingFor("clarification", { questions: ["Which?"] }));
    const { user } = openPage("/develop/s1");
    await user.type(await screen.findByLabelText("1. Which?"), "This");
    const gone = { code: "session_not_found", title: "Gone", status: 404, detail: "" };
    server.use(http.get("*/api/v1/codev/sessions/s1", () => HttpResponse.json(gone, { status: 404 })));
    server.use(http.post("*/api/v1/codev/sessions/s1/stop", () => HttpResponse.json(gone, { status: 404 })));
    await user.click(screen.getByRole("button", { name: "Stop" }));
    expect(await screen.findByText("Session not found")).toBeInTheDocument();
    expect(served.answers).toEqual([]);
  });
});

describe("the list", () => {
  it("has sessions that wait on top, and deletes one after asking", async () => {
    serve(session({ status: "completed", phase: "done" }));
    const deleted = vi.fn();
    server.use(
      http.delete("*/api/v1/codev/sessions/s1", () => {
        deleted();
        return new HttpResponse(null, { status: 204 });
      }),
    );
    const { user } = openPage("/develop");
    await user.click(await screen.findByRole("button", { name: "More: A flow that greets" }));
    await user.click(await screen.findByRole("menuitem", { name: "Delete" }));
    await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(deleted).toHaveBeenCalledOnce());
  });
});
