import { configure, screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { CASE, openPage, serve, session, waitingFor } from "./serving";

vi.setConfig({ testTimeout: 20_000 });
configure({ asyncUtilTimeout: 10_000 });

describe("a result", () => {
  it("shows its tests and changes, is accepted with its tests, or rolled back", async () => {
    const trial = { case: "Greets", trial: 1, passed: false, misses: ["does not contain 'hello'"], answer: "Bye" };
    const data = { summary: "It **greets**.", diff: ["+ Step", "~ Prompt"], trials: [trial], cases: [CASE] };
    const served = serve(waitingFor("result_review", data, { can_roll_back: true }));
    const rolledBack = vi.fn();
    server.use(
      http.post("*/api/v1/codev/sessions/s1/rollback", () => {
        rolledBack();
        return HttpResponse.json({ ...served.now, can_roll_back: false, flow_id: null });
      }),
    );
    const { user } = openPage("/develop/s1");
    const card = await screen.findByRole("region", { name: "A result to look at" });
    await user.click(within(card).getByRole("button", { name: "Greets" }));
    expect(within(card).getByText("The answer does not contain “hello”")).toBeInTheDocument();
    await user.click(within(card).getByRole("tab", { name: "Changes (2)" }));
    expect(within(card).getByRole("region", { name: "Changes" })).toHaveTextContent("Added: Step");
    await user.click(within(card).getByRole("button", { name: "Roll back" }));
    await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Roll back" }));
    expect(await screen.findByText("“Greeter” is removed: the session had made it")).toBeInTheDocument();
    expect(rolledBack).toHaveBeenCalledOnce();
    await user.click(await screen.findByRole("button", { name: "Accept" }));
    await waitFor(() => expect(served.answers).toMatchObject([{ response: { accepted: true, save_tests: true } }]));
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
    expect(screen.getByRole("alert")).toHaveTextContent("Say what you want.");
    expect(started).not.toHaveBeenCalled();
    await user.click(await screen.findByRole("radio", { name: "Flowise" }));
    await user.type(screen.getByLabelText(/What do you want/), "Greet people");
    await user.keyboard("{Control>}{Enter}{/Control}");
    await waitFor(() => expect(router.state.location.pathname).toBe("/develop/s1"));
    const body = { requirement: "Greet people", domain: "flowise", instance_id: "team", flow_id: null };
    expect(started).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(body), "false");
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
