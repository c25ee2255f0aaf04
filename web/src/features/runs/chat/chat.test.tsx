import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import type { Conversation } from "@/api/queries/chat";
import type { RunOut } from "@/api/types";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ChatFlowsPage, ChatPage } from ".";

const AT = "2026-01-01T00:00:00Z";
const FLOW = { id: "f1", name: "Handbook", description: "Ask about leave", space_id: "s", icon: "" };
const CHAT = "*/api/v1/chat";

function run(id: string, text: string, answer: string, more: Partial<RunOut> = {}): RunOut {
  return {
    id,
    flow_id: "f1",
    version: 1,
    status: "completed",
    session_id: "c1",
    user_id: "u",
    text: answer,
    truncated: false,
    error: null,
    created_at: AT,
    started_at: AT,
    finished_at: AT,
    ms: 12,
    resumes: 0,
    source_run_id: null,
    source_step_id: null,
    input: { text, form_data: {}, file_ids: [] },
    output: { text: answer, file_ids: [], outputs: {} },
    steps: [],
    ...more,
  } as RunOut;
}

interface Served {
  conversations: Conversation[];
  runs: RunOut[];
  /** Method, path and body of what changes something. */
  sent: [string, string, unknown][];
  refuse?: boolean;
}

const problem = (status: number, detail: string) => ({
  code: "refused",
  title: "Refused",
  status,
  detail,
  remedy: "Publish another.",
});
const conversation = (id: string, title: string): Conversation => ({ id, flow_id: "f1", title, used_at: AT });

function serve(more: Partial<Served> = {}): Served {
  const served: Served = { conversations: [conversation("c1", "Leave")], runs: [], sent: [], ...more };
  const page = (items: unknown[]) => HttpResponse.json({ items, next_cursor: null });
  const note = async (request: Request) =>
    served.sent.push([
      request.method,
      new URL(request.url).pathname.replace("/api/v1/chat", ""),
      request.method === "DELETE" ? null : await request.json(),
    ]);
  server.use(
    http.get(`${CHAT}/flows`, () => page([FLOW])),
    http.get(`${CHAT}/flows/f1`, () => HttpResponse.json({ ...FLOW, welcome_text: "**Hej**", takes_files: false })),
    http.get(`${CHAT}/flows/form`, () => HttpResponse.json(problem(422, "It has a form."), { status: 422 })),
    http.get(`${CHAT}/conversations`, ({ request }) => {
      const search = new URL(request.url).searchParams.get("search") ?? "";
      return page(served.conversations.filter((one) => one.title.includes(search)));
    }),
    http.post(`${CHAT}/conversations`, async ({ request }) => {
      await note(request);
      served.conversations = [conversation("c2", ""), ...served.conversations];
      return HttpResponse.json(served.conversations[0], { status: 201 });
    }),
    http.patch(`${CHAT}/conversations/:id`, async ({ request }) => {
      await note(request);
      served.conversations = [conversation("c1", "Holiday")];
      return HttpResponse.json(served.conversations[0]);
    }),
    http.delete(`${CHAT}/conversations/:id`, async ({ request }) => {
      await note(request);
      served.conversations = [];
      return new HttpResponse(null, { status: 204 });
    }),
    http.get(`${CHAT}/conversations/:id/messages`, () => page(served.runs)),
    http.post(`${CHAT}/conversations/:id/messages`, async ({ request }) => {
      await note(request);
      if (served.refuse) return HttpResponse.json(problem(429, "The quota of today is used."), { status: 429 });
      const [, , body] = served.sent.at(-1) ?? ["", "", {}];
      const { text } = body as { text: string };
      const made = run(`r${served.runs.length + 1}`, text, `You said ${text}`);
      served.runs = [made, ...served.runs];
      return HttpResponse.json(made, { status: 201 });
    }),
    http.get("*/api/v1/flow-runs/:id", ({ params }) =>
      HttpResponse.json(served.runs.find(({ id }) => id === params.id) ?? null),
    ),
  );
  return served;
}

function show(address: string) {
  const root = createRootRoute({ component: Outlet });
  const inside = createRoute({ getParentRoute: () => root, id: "inside", component: Outlet });
  const list = createRoute({ getParentRoute: () => inside, path: "/chat", component: ChatFlowsPage });
  const path = "/chat/$flowId/{-$conversationId}";
  const chat = createRoute({ getParentRoute: () => inside, path, component: ChatPage });
  const router = createRouter({
    routeTree: root.addChildren([inside.addChildren([list, chat])]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  renderStudio(
    <>
      <RouterProvider router={router as never} />
      <Toasts />
    </>,
  );
  return { user: userEvent.setup(), router };
}

const messages = () => screen.findByRole("region", { name: "Messages" });

describe("the list of flows to chat with", () => {
  it("leads to the chat with one", async () => {
    serve();
    const { user, router } = show("/chat");
    await user.click(await screen.findByRole("link", { name: /Handbook/ }));
    expect(router.state.location.pathname).toBe("/chat/f1");
  });
});

describe("the chat with a flow", () => {
  it("greets, starts a conversation with the first message and shows the answer", async () => {
    const served = serve();
    const { user, router } = show("/chat/f1");
    expect(await screen.findByText("Hej")).toBeVisible();
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "How long?{Enter}");
    expect(await within(await messages()).findByText("You said How long?")).toBeVisible();
    expect(served.sent).toEqual([
      ["POST", "/conversations", { flow_id: "f1" }],
      ["POST", "/conversations/c2/messages", { text: "How long?", file_ids: [], wait: false }],
    ]);
    expect(router.state.location.pathname).toBe("/chat/f1/c2");
    expect(screen.queryByRole("button", { name: "Add a file" })).toBeNull();
  });

  it("gives a refused message back, says why, and begins no second conversation", async () => {
    const served = serve({ refuse: true });
    const { user } = show("/chat/f1");
    const field = await screen.findByRole("textbox", { name: "Message" });
    await user.type(field, "hej{Enter}");
    expect(await screen.findByText(/The quota of today is used/)).toBeVisible();
    expect(field).toHaveValue("hej");
    served.refuse = false;
    await user.click(screen.getByRole("button", { name: "Send" }));
    expect(await within(await messages()).findByText("You said hej")).toBeVisible();
    expect(served.sent.filter(([, path]) => path === "/conversations")).toHaveLength(1);
  });

  it("shows the messages of a conversation in order, and sends the last one again", async () => {
    const served = serve({ runs: [run("r2", "second", "two"), run("r1", "first", "one")] });
    const { user } = show("/chat/f1/c1");
    const section = await messages();
    await within(section).findByText("two");
    const shown = section.textContent ?? "";
    expect(["first", "one", "second", "two"].map((text) => shown.indexOf(text))).toEqual(
      ["first", "one", "second", "two"].map((text) => shown.indexOf(text)).toSorted((one, other) => one - other),
    );
    await user.click(within(section).getByRole("button", { name: "Send again" }));
    await waitFor(() =>
      expect(served.sent).toMatchObject([["POST", "/conversations/c1/messages", { text: "second" }]]),
    );
  });

  it("draws hostile answers as text", async () => {
    serve({ runs: [run("r1", "x", "# A\n<img src=x onerror=alert(1)>[b](javascript:alert(1))")] });
    show("/chat/f1/c1");
    const section = await messages();
    await within(section).findByText("b");
    expect(section.querySelector("img, a[href^=javascript]")).toBeNull();
  });

  it("says what a failed answer failed with", async () => {
    const error = { code: "model_error", message: "The model is away. Choose another." };
    serve({ runs: [run("r1", "x", "", { status: "failed", error, text: null, output: null })] });
    show("/chat/f1/c1");
    expect(await screen.findByText("The model is away. Choose another.")).toBeVisible();
  });

  it("finds, renames and deletes conversations", async () => {
    const served = serve();
    const { user, router } = show("/chat/f1/c1");
    await user.type(await screen.findByRole("searchbox", { name: "Search conversations" }), "nothing");
    expect(await screen.findByText("Nothing matches.")).toBeInTheDocument();
    await user.clear(screen.getByRole("searchbox", { name: "Search conversations" }));
    await user.click(await screen.findByRole("button", { name: "Actions for Leave" }));
    await user.click(await screen.findByRole("menuitem", { name: "Rename" }));
    const title = await screen.findByLabelText(/Title/);
    await user.clear(title);
    await user.type(title, " Holiday {Enter}");
    await user.click(await screen.findByRole("button", { name: "Actions for Holiday" }));
    await user.click(await screen.findByRole("menuitem", { name: "Delete" }));
    await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/chat/f1"));
    expect(served.sent).toEqual([
      ["PATCH", "/conversations/c1", { title: "Holiday" }],
      ["DELETE", "/conversations/c1", null],
    ]);
  });

  it("says why a flow cannot be chatted with", async () => {
    serve();
    show("/chat/form");
    expect(await screen.findByText("It has a form.")).toBeVisible();
    expect(screen.getByText("Publish another.")).toBeVisible();
  });

  it("opens the passage that a number cites, and verifies it when asked", async () => {
    const passage = {
      ...{ base_id: "b1", document_id: "d1", document: "leave.md", version: 2, document_sha256: "d".repeat(64) },
      ...{ ordinal: 4, start: 0, end: 9, page: 3, sha256: "a".repeat(64), score: 1 },
    };
    const step = { step_id: "reply", type: "AnswerFromKnowledge", status: "completed", order: 1, label: "Reply" };
    const answer = "It is 27 days [1]. See [2] and `[1]`, [x](https://x.example).";
    serve({ runs: [run("r1", "x", answer, { steps: [step] as never })] });
    const asked: unknown[] = [];
    const verdict = { ...passage, verified: true, reason: "" };
    server.use(
      http.get("*/api/v1/flow-runs/r1/steps/reply", () =>
        HttpResponse.json({ ...step, tool_calls: [{ name: "knowledge.search", result: [passage] }] }),
      ),
      http.post("*/api/v1/knowledge-bases/verify", async ({ request }) => {
        asked.push(await request.json());
        return HttpResponse.json({ verified: true, citations: [verdict] });
      }),
    );
    const { user } = show("/chat/f1/c1");
    const section = await messages();
    const link = await within(section).findByRole("link", { name: "[1]" });
    const address = `/knowledge/b1?document=d1&passage=4&cited=${"a".repeat(64)}`;
    expect(decodeURIComponent(link.getAttribute("href") ?? "").replaceAll('"', "")).toBe(address);
    expect(within(section).queryByRole("link", { name: "[2]" })).toBeNull();
    expect(within(section).queryByText("Verified")).toBeNull();
    await user.click(within(section).getByRole("button", { name: "Verify the sources" }));
    expect(await within(section).findByText("Verified")).toBeVisible();
    const { document_id, version, document_sha256, start, end, sha256 } = passage;
    expect(asked).toEqual([{ citations: [{ document_id, version, document_sha256, start, end, sha256 }] }]);
  });
});
