import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Approval } from "@/api/queries/approvals";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { InboxPage } from "./InboxPage";

const approval = (more: Partial<Approval> = {}): Approval => ({
  id: "a1",
  run_id: "run-1",
  flow_id: "flow-1",
  flow_name: "Invoices",
  step_id: "check",
  space_id: "space-1",
  status: "pending",
  question: "Pay this invoice?",
  tool: "",
  content_hash: "f00",
  starter_id: "u1",
  starter_name: "Bo",
  not_starter: false,
  assignees: [],
  needed: 1,
  approvals: 0,
  can_decide: true,
  refusal: null,
  created_at: "2026-01-01T00:00:00Z",
  due_at: null,
  decided_at: null,
  value: { amount: 40, to: "Taxi AB", lines: [{ what: "ride" }] },
  questions: [{ id: "centre", label: "Cost centre" }],
  editable: ["amount"],
  decisions: [],
  escalation: [],
  escalates_at: null,
  notices: [],
  ...more,
});

/** The inbox at an address, with these approvals; decisions that were sent are noted. */
function show(address: string, approvals: Approval[], decide: (body: never) => Response = () => HttpResponse.json({})) {
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/approvals", () => HttpResponse.json({ items: approvals, next_cursor: null })),
    http.get("*/api/v1/approvals/count", () => HttpResponse.json({ pending: approvals.length })),
    http.get("*/api/v1/approvals/:id", ({ params }) =>
      HttpResponse.json(approvals.find(({ id }) => id === params.id) ?? null),
    ),
    http.post("*/api/v1/approvals/*", async ({ request }) => {
      const body = await request.json();
      sent.push(body);
      return decide(body as never);
    }),
  );
  const root = createRootRoute({ component: Outlet });
  const inside = createRoute({ getParentRoute: () => root, id: "inside", component: Outlet });
  const inbox = createRoute({
    getParentRoute: () => inside,
    path: "/inbox/{-$approvalId}",
    validateSearch: (search: Record<string, unknown>) => search,
    component: InboxPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([inside.addChildren([inbox])]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  renderStudio(<RouterProvider router={router as never} />);
  return sent;
}

const conflict = (code: string) =>
  HttpResponse.json(
    { code, title: "Already decided", status: 409, detail: "This approval is decided." },
    { status: 409, headers: { "Content-Type": "application/problem+json" } },
  );

describe("the inbox", () => {
  it("says what it is for where nothing waits", async () => {
    show("/inbox", []);
    expect(await screen.findByRole("heading", { name: "Nothing waits for you" })).toBeInTheDocument();
    expect(screen.getByText(/Add an Approval step to a flow/)).toBeInTheDocument();
  });

  it("shows fields, changes a number with its difference, and sends it with answer and comment", async () => {
    const approvals = [approval()];
    const sent = show("/inbox/a1", approvals, () => {
      approvals[0] = approval({ status: "approved", can_decide: false, refusal: "over" });
      return HttpResponse.json(approvals[0]);
    });
    const user = userEvent.setup();
    expect(await screen.findByText("Taxi AB")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Edit to" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Edit amount" }));
    const amount = screen.getByRole("textbox", { name: "amount" });
    await user.clear(amount);
    await user.type(amount, "many");
    expect(screen.getByText("Enter a number, for example 12 or 12.5.")).toBeInTheDocument();
    expect(screen.getByRole("button", { name: "Approve with changes" })).toBeDisabled();
    await user.clear(amount);
    await user.type(amount, "30");
    const change = screen.getByRole("region", { name: "Change of amount" });
    expect(within(change).getByText("40")).toBeInTheDocument();
    expect(within(change).getByText("30")).toBeInTheDocument();
    await user.type(screen.getByRole("textbox", { name: "Cost centre" }), "12");
    await user.type(screen.getByRole("textbox", { name: "Comment" }), "less");
    await user.click(screen.getByRole("button", { name: "Approve with changes" }));
    expect(await screen.findByText("Approved. The run continues.")).toBeInTheDocument();
    expect(sent).toEqual([
      {
        decision: "approve",
        comment: "less",
        answers: { centre: "12" },
        edits: { amount: "30" },
        content_hash: "f00",
      },
    ]);
  });

  it("names who may decide later, and shows the notices that were sent or failed", async () => {
    const notice = { kind: "asked", status: "failed", due_at: null, sent_at: null } as const;
    const hook = { ...notice, url: "https://hook.test", connection: "", recipient: "" };
    const mail = { ...notice, url: "", connection: "office" };
    show("/inbox/a1", [
      approval({
        escalates_at: "2999-01-01T00:00:00Z",
        escalation: [{ user_id: null, name: "", role: "owner" }],
        notices: [
          { ...hook, error: "The receiver answered 404." },
          { ...mail, recipient: "", error: "The server refused." },
          { ...mail, recipient: "eva@customer.example", error: "" },
        ],
      }),
    ]);
    expect(await screen.findByText(/From .* also: role:owner/)).toBeInTheDocument();
    expect(screen.getByText(/Request · https:\/\/hook.test · failed The receiver answered 404./)).toBeVisible();
    expect(screen.getByText(/Request · by office · failed The server refused./)).toBeVisible();
    expect(screen.getByText(/Link for eva@customer.example · by office · failed/)).toBeVisible();
  });

  it("asks for the call of a tool in the language of the page, with its arguments", async () => {
    show("/inbox/a1", [
      approval({ tool: "mail.send", question: "Allow the call of 'mail.send'?", value: { to: "bo@example.org" } }),
    ]);
    expect(await screen.findByRole("heading", { name: "Allow the call of mail.send?" })).toBeInTheDocument();
    expect(await screen.findByRole("region", { name: "Arguments of the call" })).toHaveTextContent("bo@example.org");
  });

  it("says honestly that another user was faster, and what they decided", async () => {
    const approvals = [approval()];
    show("/inbox/a1", approvals, () => {
      const decision = { user_id: "u2", user_name: "Cy", decision: "reject" as const, comment: "too much" };
      approvals[0] = approval({
        status: "rejected",
        can_decide: false,
        refusal: "over",
        decisions: [
          { ...decision, answers: {}, edits: {}, shown_hash: "f00", outside: "", decided_at: "2026-01-01T01:00:00Z" },
        ],
      });
      return conflict("approval_decided");
    });
    const user = userEvent.setup();
    await user.click(await screen.findByRole("button", { name: "Approve" }));
    expect(await screen.findByText("Your decision was not stored")).toBeInTheDocument();
    expect(await screen.findByText("Cy rejected")).toBeInTheDocument();
    expect(screen.getByText("too much")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
  });

  it.each([
    ["starter", "You started this run, so another user must decide."],
    ["not_assigned", "This approval is assigned to others."],
    ["no_permission", "You have read access. Deciding requires the runner role in this space."],
    ["already_decided", "You have approved. More users must approve before the run continues."],
    ["timed_out", "The time to decide is over. The run continues on its timeout branch."],
  ] as const)("says why a user may not decide: %s", async (refusal, words) => {
    show("/inbox/a1", [approval({ can_decide: false, refusal, questions: [], editable: ["*"] })]);
    expect(await screen.findByText(words)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
    expect(screen.queryByRole("button", { name: /^Edit/ })).toBeNull();
  });

  it("shows text formatted and as the characters that are sent, and its markup as text", async () => {
    show("/inbox/a1", [approval({ value: "**Dear** <img src=x onerror=alert(1)> <!-- and more -->" })]);
    const user = userEvent.setup();
    await user.click(await screen.findByRole("button", { name: "Show as plain text" }));
    expect(screen.getByText(/<!-- and more -->/)).toBeInTheDocument();
    expect(document.querySelector("article img")).toBeNull();
  });

  it("decides several together and says what became of each", async () => {
    const approvals = [
      approval(),
      approval({ id: "a2", question: "Send the mail?" }),
      approval({ id: "a3", can_decide: false }),
    ];
    const sent = show("/inbox?show=waiting", approvals, () =>
      HttpResponse.json({
        items: [
          { approval_id: "a1", stored: true, status: "approved", problem: null },
          { approval_id: "a2", stored: false, status: null, problem: { detail: "It is decided." } },
        ],
      }),
    );
    const user = userEvent.setup();
    const boxes = await screen.findAllByRole("checkbox");
    expect(boxes).toHaveLength(2);
    for (const box of boxes) await user.click(box);
    await user.click(screen.getByRole("button", { name: "Approve" }));
    const dialog = await screen.findByRole("dialog", { name: "Approve 2 approvals?" });
    await user.click(within(dialog).getByRole("button", { name: "Approve" }));
    expect(await screen.findByText("1 of 2 decisions stored")).toBeInTheDocument();
    expect(screen.getByText("Not stored: It is decided.")).toBeInTheDocument();
    const decision = { decision: "approve", comment: "", content_hash: "f00" };
    expect(sent).toEqual([
      {
        decisions: [
          { approval_id: "a1", ...decision },
          { approval_id: "a2", ...decision },
        ],
      },
    ]);
  });
});
