import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import type { Conversation } from "@/api/queries/chat";
import type { RunOut } from "@/api/types";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ChatFlowsPage, ChatPage } from ".";

const AT = "2026-01-01T00:00:00Z";
const FLOW = { id: "f1", name: "Handbook", description: "Ask about leave", space_id: "s", icon: "" };
const CHAT = "*/api/v1/chat";

export function run(id: string, text: string, answer: string, more: Partial<RunOut> = {}): RunOut {
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

export function serve(more: Partial<Served> = {}): Served {
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
    http.get(`${CHAT}/flows/f1`, () =>
      HttpResponse.json({ ...FLOW, welcome_text: "**Hej**", questions: ["How long?"], takes_files: false }),
    ),
    http.get(`${CHAT}/flows/form`, () => HttpResponse.json(problem(422, "It has a form."), { status: 422 })),
    http.get(`${CHAT}/conversations/:id/feedback`, () => HttpResponse.json([])),
    http.put(`${CHAT}/conversations/:id/messages/:run/feedback`, async ({ request }) => {
      await note(request);
      return HttpResponse.json({});
    }),
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

export function show(address: string) {
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

export const messages = () => screen.findByRole("region", { name: "Messages" });
