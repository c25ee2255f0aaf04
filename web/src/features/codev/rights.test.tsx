import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { forgetStored } from "@/lib/storage";
import { server } from "@/testing/server";
import { CASE, openPage, serve, session, waitingFor, withRights } from "./serving";

vi.setConfig({ testTimeout: 20_000 });
beforeEach(() => forgetStored("unsaved."));

const LOOKS = withRights("flows.view");

describe("who only looks", () => {
  it("reads what a session waits for and changes nothing of it", async () => {
    const data = { plan: "# The plan", cases: [CASE], test_trials: 3 };
    serve(waitingFor("plan_approval", data, { can_roll_back: true })).me = LOOKS;
    openPage("/develop/s1");
    const card = await screen.findByRole("region", { name: "A plan to approve" });
    expect(within(card).getByText(/Answering requires the editor role/)).toBeInTheDocument();
    for (const button of within(card).getAllByRole("button")) expect(button).toBeDisabled();
    expect(within(card).queryByRole("radio", { name: "Edit" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Roll back" })).toBeNull();
  });

  it("reads every part of a result", async () => {
    const trial = { case: CASE.name, passed: true, answer: "Hello Ada", ms: 5 };
    const data = { cases: [CASE], trials: [trial], diff: ["added the step greet"] };
    serve(waitingFor("result_review", data)).me = LOOKS;
    const { user } = openPage("/develop/s1");
    const card = await screen.findByRole("region", { name: "A result to review" });
    await user.click(within(card).getByRole("tab", { name: /change/i }));
    expect(within(card).getByText(/added the step greet/)).toBeInTheDocument();
    expect(within(card).getByRole("button", { name: "Accept" })).toBeDisabled();
  });

  it("goes on with no session that ended, and starts no next one", async () => {
    serve(session({ status: "error", phase: "plan", can_go_on: true })).me = LOOKS;
    openPage("/develop/s1");
    expect(await screen.findByRole("region", { name: /failed|error|went wrong/i })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Continue from here" })).toBeNull();
    expect(screen.queryByRole("link", { name: "Start another session" })).toBeNull();
  });

  it("sees the sessions of the list, and is offered neither to start nor to delete one", async () => {
    serve(session()).me = LOOKS;
    openPage("/develop");
    expect(await screen.findByText("A flow that greets")).toBeInTheDocument();
    expect(screen.queryByRole("link", { name: "New session" })).toBeNull();
    expect(screen.queryByRole("button", { name: /A flow that greets/ })).toBeNull();
  });

  it("is told what starting takes, where there is no session yet", async () => {
    serve(session()).me = LOOKS;
    server.use(http.get("*/api/v1/codev/sessions", () => HttpResponse.json({ items: [], next_cursor: null })));
    openPage("/develop");
    expect(await screen.findByText(/Starting a session requires the editor role/)).toBeInTheDocument();
    expect(screen.queryByRole("link")).toBeNull();
  });

  it("chooses among the flows that they may change", async () => {
    serve(session());
    const flow = (name: string, space_id: string) => ({ id: name, name, space_id, updated_at: "2026-01-01T00:00:00Z" });
    server.use(
      http.get("*/api/v1/flows", ({ request }) =>
        HttpResponse.json(
          new URL(request.url).searchParams.has("cursor")
            ? { items: [flow("Mine", "s")], next_cursor: null }
            : { items: [flow("Theirs", "another")], next_cursor: "behind" },
        ),
      ),
    );
    const { user } = openPage("/develop/new");
    await user.click(await screen.findByRole("radio", { name: "An existing flow" }));
    await user.click(screen.getByText("Choose a flow"));
    expect(await screen.findByRole("button", { name: /Mine/ })).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: /Theirs/ })).toBeNull();
  });
});
