import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { removeStored, storedKeys } from "@/lib/storage";
import { server } from "@/testing/server";
import { CASE, EVENTS, openPage, serve, waitingFor } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

beforeEach(() => storedKeys("unsaved.").forEach(removeStored));

describe("questions", () => {
  it("are answered one by one and sent as one text with the interrupt's id", async () => {
    const served = serve(waitingFor("clarification", { questions: ["Which language?", "How long?"] }), EVENTS);
    const first = openPage("/develop/s1");
    expect(await screen.findByRole("button", { name: "Answer" })).toBeDisabled();
    await first.user.type(screen.getByLabelText("2. How long?"), "Short");
    // Somebody looks elsewhere, and comes back.
    cleanup();
    const { user } = openPage("/develop/s1");
    expect(await screen.findByLabelText("2. How long?")).toHaveValue("Short");
    await user.click(screen.getByRole("button", { name: "Answer" }));
    expect(await screen.findByText("You accepted the result.")).toBeInTheDocument();
    expect(Object.keys(localStorage).filter((key) => key.includes("unsaved.develop"))).toEqual([]);
    expect(served.answers).toEqual([
      { interrupt_id: "i-clarification", response: { type: "clarification", text: "2. How long?\nShort" } },
    ]);
    expect(within(screen.getByRole("log")).getByText(/Reads the flow/)).toBeInTheDocument();
  });

  it("that were answered elsewhere are gone, and the page says so", async () => {
    const served = serve(waitingFor("clarification", { questions: ["Which?"] }));
    const first = EVENTS.slice(0, EVENTS.indexOf("id: 2"));
    server.use(
      http.get("*/api/v1/codev/sessions/s1/events", ({ request }) =>
        HttpResponse.text(request.headers.get("last-event-id") ? EVENTS.slice(first.length) : first, {
          headers: { "content-type": "text/event-stream" },
        }),
      ),
      http.post("*/api/v1/codev/sessions/s1/resume", () => {
        served.now = waitingFor("plan_approval", { plan: "# New", cases: [CASE] }, { last_event: 3 });
        return HttpResponse.json({ code: "codev_not_waiting", title: "Not waiting", detail: "" }, { status: 409 });
      }),
    );
    const { user } = openPage("/develop/s1");
    await user.click(await screen.findByRole("button", { name: "Continue without answers" }));
    expect(await screen.findByRole("region", { name: "A plan to approve" })).toBeInTheDocument();
    expect(screen.getByText("Already answered")).toBeInTheDocument();
    expect(screen.queryByLabelText("1. Which?")).toBeNull();
    // What was done meanwhile is told too, though nobody saw it at work.
    expect(await within(screen.getByRole("log")).findByText(/Reads the flow/)).toBeInTheDocument();
  });
});

describe("the key of the session's model", () => {
  const missing = [
    { type: "OPENAI_API_KEY", label: "OPENAI_API_KEY", fields: [{ name: "OPENAI_API_KEY", label: "OPENAI_API_KEY" }] },
  ];
  const data = { missing, of: "model", model: "openai/m", reason: "openai rejected the key: no", refused: true };

  it("is asked for with its reason on a server of others too, and the session can be ended or go on", async () => {
    const served = serve(
      waitingFor("credential_check", data, { domain: "flowise", instance_id: "team", can_go_on: true }),
    );
    const { user } = openPage("/develop/s1");
    const card = await screen.findByRole("region", { name: "The model needs a working key" });
    expect(within(card).getByText("openai rejected the key: no")).toBeInTheDocument();
    expect(within(card).getByRole("button", { name: "Try again" })).toBeEnabled();
    expect(within(card).getByRole("button", { name: "Continue from here" })).toBeEnabled();
    expect(within(card).queryByRole("button", { name: "Continue without them" })).toBeNull();
    await user.click(within(card).getByRole("button", { name: "End session" }));
    await waitFor(() =>
      expect(served.answers).toEqual([
        { interrupt_id: "i-credential_check", response: { type: "credential_check", skip: true } },
      ]),
    );
  });
});

describe("missing credentials", () => {
  it("are given in place, and what was typed is nowhere afterwards", async () => {
    const given = vi.fn();
    const missing = [
      { type: "openAIApi", label: "OpenAI", fields: [{ name: "key", label: "API key" }], where: "" },
      { type: "google", label: "Google", fields: [], where: "Sign in to Google in Flowise." },
    ];
    const served = serve(waitingFor("credential_check", { missing }, { domain: "flowise", instance_id: "team" }));
    server.use(
      http.post("*/api/v1/codev/sessions/s1/credentials", async ({ request }) => {
        given(await request.json());
        const left = missing.filter(({ type }) => type === "google");
        served.now = waitingFor("credential_check", { missing: left }, { domain: "flowise", instance_id: "team" });
        return HttpResponse.json(served.now);
      }),
    );
    const { user } = openPage("/develop/s1");
    const field = await screen.findByLabelText(/API key/);
    expect(field).toHaveAttribute("type", "password");
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(screen.getByRole("alert")).toHaveTextContent("Enter a value.");
    await user.type(field, "sk-secret-1{Enter}");
    expect(await screen.findByText("Added: OpenAI.")).toBeInTheDocument();
    await waitFor(() => expect(screen.queryByText("openAIApi")).toBeNull());
    expect(given).toHaveBeenCalledExactlyOnceWith({ type: "openAIApi", name: "", values: { key: "sk-secret-1" } });
    expect(document.documentElement.outerHTML).not.toContain("sk-secret-1");
    expect(field).toHaveValue("");
    expect(screen.getByText("Sign in to Google in Flowise.")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Check again" }));
    await waitFor(() =>
      expect(served.answers).toEqual([
        { interrupt_id: "i-credential_check", response: { type: "credential_check", skip: false } },
      ]),
    );
  });
});

describe("a plan", () => {
  const DATA = {
    plan: "# The plan",
    cases: [CASE],
    test_trials: 3,
    verdict: { category: "LOGIC", reason: "It guessed.", fix: "Add a rule." },
    conflict: { message: "'Greeter' was changed.", lines: ["+ Note"] },
  };

  it("is approved with Ctrl+Enter, as it is, and only once", async () => {
    const served = serve(waitingFor("plan_approval", DATA, { hint: "A key was left out." }));
    const { user } = openPage("/develop/s1");
    expect(await screen.findByText("It guessed.")).toBeInTheDocument();
    expect(screen.getByText(/looks like a key or a password was removed/)).toBeInTheDocument();
    expect(screen.getByText("'Greeter' was changed.")).toBeInTheDocument();
    expect(screen.getByText(/each runs 3 times, and all must pass/)).toBeInTheDocument();
    screen.getByRole("switch", { name: "Approve repairs automatically" }).focus();
    await user.keyboard("{Control>}{Enter}{Enter}{/Control}");
    expect(await screen.findByText("You accepted the result.")).toBeInTheDocument();
    expect(served.answers).toEqual([
      { interrupt_id: "i-plan_approval", response: { type: "plan_approval", approved: true } },
    ]);
  });

  it("is approved with tests that were changed, added and removed, and with repairs", async () => {
    const served = serve(waitingFor("plan_approval", DATA));
    const { user } = openPage("/develop/s1");
    await user.click(await screen.findByRole("button", { name: "Add a test" }));
    const dialog = screen.getByRole("dialog");
    await user.click(within(dialog).getByRole("button", { name: "Save test" }));
    expect(within(dialog).getByRole("alert")).toHaveTextContent("Enter a name for the test.");
    await user.type(within(dialog).getByLabelText(/Name/), "Says bye");
    await user.type(within(dialog).getByLabelText("Input"), "Bye");
    await user.type(within(dialog).getByLabelText("contains"), "So long,{Enter}friend");
    await user.click(within(dialog).getByRole("button", { name: "Save test" }));
    expect(await screen.findByText("The answer contains “So long, friend”")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Remove “Greets”" }));
    await user.click(screen.getByRole("switch", { name: "Approve repairs automatically" }));
    await user.click(screen.getByRole("button", { name: "Approve as edited" }));
    await waitFor(() => expect(served.answers).toHaveLength(1));
    const none = { equals: null, matches: null, json_schema: null };
    const added = {
      name: "Says bye",
      text: "Bye",
      form: {},
      expect: { contains: ["So long,\nfriend"], excludes: [], ...none },
    };
    expect(served.answers[0]).toMatchObject({ response: { approved: true, repairs_approved: true, cases: [added] } });
  });

  it("that changes approved tests says so", async () => {
    serve(waitingFor("plan_approval", { ...DATA, conflict: null, repairs_approved: true, tests_changed: true }));
    openPage("/develop/s1");
    expect(await screen.findByText(/This repair changes tests that you approved/)).toBeInTheDocument();
    expect(screen.getByRole("switch", { name: "Approve repairs automatically" })).toBeChecked();
  });

  it("is not approved without a test", async () => {
    serve(waitingFor("plan_approval", DATA));
    const { user } = openPage("/develop/s1");
    await user.click(await screen.findByRole("button", { name: "Remove “Greets”" }));
    expect(screen.getByText(/Without tests, nobody knows/)).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Approve as edited" })).toBeDisabled();
  });

  it("that mends the one before says what is new in it and what it tests no more, which can be put back", async () => {
    const [greets, asks, short] = ["Greets", "Asks", "Is short"].map((name) => ({ ...CASE, name }));
    const first = { id: "before", type: "plan_approval", prompt: "", data: { plan: "# First", cases: [greets, asks] } };
    const told = `id: 1\nevent: interrupt\ndata: ${JSON.stringify(first)}\n\n`;
    const now = { ...DATA, conflict: null, plan: "# Second", cases: [{ ...greets, text: "Hello" }, short] };
    const trials = ["Greets", "Asks"].map((name) => ({ case: name, trial: 1, passed: false }));
    const served = serve(waitingFor("plan_approval", now, { state: { trials } }), told);
    const { user } = openPage("/develop/s1");
    const card = within(await screen.findByRole("region", { name: "A repair to approve" }));
    expect(await card.findByText("“Asks” is no longer tested")).toBeInTheDocument();
    expect(await card.findByRole("heading", { name: /^Is short\s*new$/ })).toBeInTheDocument();
    expect(card.getByRole("heading", { name: /^Greets\s*changed$/ })).toBeInTheDocument();
    await user.click(card.getByRole("radio", { name: "Changes" }));
    expect(card.getByRole("region", { name: "Changes" })).toHaveTextContent("# First");
    await user.click(card.getByRole("button", { name: "Restore" }));
    await user.click(card.getByRole("button", { name: "Approve as edited" }));
    await waitFor(() => expect(served.answers).toHaveLength(1));
    expect(served.answers[0]).toMatchObject({ response: { cases: [{ name: "Greets" }, { name: "Is short" }, asks] } });
  });

  it("is sent back with what should be otherwise", async () => {
    const served = serve(waitingFor("plan_approval", DATA));
    const { user } = openPage("/develop/s1");
    await user.click(await screen.findByRole("button", { name: "Request changes" }));
    await user.type(screen.getByLabelText("What should be different?"), "Shorter");
    await user.click(screen.getByRole("button", { name: "Send" }));
    await waitFor(() =>
      expect(served.answers).toMatchObject([{ response: { approved: false, feedback: "Shorter", stop: false } }]),
    );
  });
});
