import { useQuery } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from "@tanstack/react-router";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import type { CodevSession, Interrupt } from "@/api/queries/codev";
import { meQuery } from "@/api/queries/me";
import { Toasts } from "@/components/ui";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { SessionPage, SessionsPage, StartPage } from ".";

export const CASE = { name: "Greets", text: "Hi", form: {}, expect: { contains: ["hello"], excludes: [] } };

export function session(more: Partial<CodevSession> = {}): CodevSession {
  return {
    thread_id: "s1",
    status: "pending_interrupt",
    phase: "clarify",
    iteration: 1,
    domain: "headgate",
    instance_id: "",
    space_id: "s",
    requirement: "A flow that greets",
    model: "openai/m",
    flow_id: "f1",
    flow_name: "Greeter",
    link: "/flows/f1",
    interrupt: null,
    stop_reason: "",
    total_input_tokens: 900,
    total_output_tokens: 100,
    token_budget: 10_000,
    can_roll_back: false,
    can_go_on: false,
    last_event: 1,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    state: {},
    ...more,
  };
}

export const waitingFor = (type: Interrupt["type"], data: object, more: Partial<CodevSession> = {}) =>
  session({ interrupt: { id: `i-${type}`, type, prompt: "Please say.", data: data as never }, ...more });

interface Served {
  /** How the session is now; a test may change it. */
  now: CodevSession;
  answers: unknown[];
  me: ReturnType<typeof withRights>;
}

/** Somebody with these rights in the space of the session. */
export const withRights = (...permissions: string[]) => ({
  permissions: { tenant: [], every_space: [], spaces: [{ space_id: "s", role: "", permissions }] },
});

/** A server that has one session, and takes answers to it. */
export function serve(first: CodevSession, events = ""): Served {
  const served: Served = { now: first, answers: [], me: withRights("flows.edit") };
  const base = "*/api/v1/codev";
  const DOMAINS = [
    { name: "headgate", label: "Headgate", instances: [], test_sets: true },
    { name: "flowise", label: "Flowise", instances: [{ id: "team", endpoint: "https://f.example" }], test_sets: false },
  ];
  server.use(
    http.get(`${base}/domains`, () => HttpResponse.json({ items: DOMAINS, model: "openai/m" })),
    http.get(`${base}/sessions`, ({ request }) =>
      HttpResponse.json({
        items: new URL(request.url).searchParams.get("status") === "pending_interrupt" ? [] : [served.now],
        next_cursor: null,
      }),
    ),
    http.get(`${base}/sessions/s1`, () => HttpResponse.json(served.now)),
    http.get(`${base}/sessions/s1/events`, () =>
      HttpResponse.text(events, { headers: { "content-type": "text/event-stream" } }),
    ),
    http.post(`${base}/sessions/s1/resume`, async ({ request }) => {
      served.answers.push(await request.json());
      served.now = session({ status: "completed", phase: "done", last_event: 9, updated_at: "2026-01-01T00:01:00Z" });
      return HttpResponse.json(served.now);
    }),
    http.get("*/api/v1/me", () => HttpResponse.json(served.me)),
    http.get("*/api/v1/models", () => HttpResponse.json([])),
    http.get("*/api/v1/providers", () => HttpResponse.json([])),
    http.get("*/api/v1/spaces", () => HttpResponse.json({ items: [], next_cursor: null })),
  );
  return served;
}

/** Nothing is drawn before it is known who is there. */
const Inside = () => (useQuery(meQuery).data ? <Outlet /> : null);

/** The pages at their addresses, as the studio has them. */
export function openPage(address: string) {
  const root = createRootRoute({ component: Outlet });
  const inside = createRoute({ getParentRoute: () => root, id: "inside", component: Inside });
  const at = (path: string, component: () => React.ReactNode) =>
    createRoute({ getParentRoute: () => inside, path, component, validateSearch: (search) => search });
  const pages = [
    at("/develop", SessionsPage),
    at("/develop/new", StartPage),
    at("/develop/$sessionId", SessionPage),
    at("/flows/$flowId", () => null),
  ];
  const router = createRouter({
    routeTree: root.addChildren([inside.addChildren(pages)]),
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

export const EVENTS = [
  'id: 1\nevent: phase\ndata: {"phase":"discover","iteration":1}\n\n',
  'id: 2\nevent: tool_call\ndata: {"id":"a","name":"describe_flow","arguments":{"flow":"Greeter"}}\n\n',
  'id: 3\nevent: tool_result\ndata: {"id":"a","name":"describe_flow","ok":true,"preview":"5 steps","ms":12}\n\n',
].join("");
