import { HttpResponse, http } from "msw";
import type { Flow, Template } from "@/api/types";
import { createDraftStore } from "@/lib/draft";
import { flowOut } from "@/testing/render";
import { server } from "@/testing/server";
import type { Completed, FlowUpdate, TurnEvent } from "./model/wire";
import { Conversation } from "./state/conversation";
import { createAssistantStore } from "./state/store";
import { answerOf } from "./state/turnSlice";

const BASE = "*/api/v1/agentic";

/** What the page sent, and a server that answers each request with the next of the turns. For tests. */
export function scripted(...turns: TurnEvent[][]) {
  const sent: Record<string, unknown>[] = [];
  const resets: string[] = [];
  const stopped: string[] = [];
  server.use(
    http.post(`${BASE}/assist/stream`, async ({ request }) => {
      sent.push((await request.json()) as Record<string, unknown>);
      return stream(turns.shift() ?? []);
    }),
    http.post(`${BASE}/sessions/reset`, ({ request }) => {
      resets.push(new URL(request.url).searchParams.get("session_id") ?? "");
      return HttpResponse.json({ status: "ok", components_cleared: 0, session_id: null });
    }),
    http.post(`${BASE}/turns/:id/stop`, ({ params }) => {
      stopped.push(String(params.id));
      return HttpResponse.json({ turn_id: params.id, stopped: true });
    }),
    http.get(`${BASE}/check-config`, () =>
      HttpResponse.json({
        configured: true,
        configured_providers: ["openai"],
        providers: [
          {
            name: "openai",
            label: "OpenAI",
            configured: true,
            models: [{ name: "gpt-5-mini", display_name: "GPT-5 Mini" }],
          },
        ],
        default_provider: "openai",
        default_model: "gpt-5-mini",
      }),
    ),
  );
  return { sent, resets, stopped };
}

function stream(events: TurnEvent[]): Response {
  const body = events
    .map((event, at) => `id: ${at}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
  return new HttpResponse(body, { headers: { "content-type": "text/event-stream" } });
}

/** A conversation about a flow, without a page around it. */
export function talk(flow: Flow = {} as Flow, templates: Template[] = [], flowId: string = crypto.randomUUID()) {
  const draft = createDraftStore(flowOut(flow), templates);
  const store = createAssistantStore(flowId, () => draft.getState().templates);
  const conversation = new Conversation(store, {
    draft,
    labels: { turn: "Assistant's changes", add: "Add", replace: "Replace", edit: "Edit" },
    unsaved: { message: "unsaved", code: "unsaved", remedy: "" },
    offline: { message: "offline", code: "offline", remedy: "" },
  });
  return {
    flowId,
    draft,
    store,
    conversation,
    state: () => store.getState(),
    /** The latest answer. */
    answer: () => {
      const { messages } = store.getState();
      const found = answerOf(messages, messages.findLast((one) => one.role === "assistant")?.id ?? null);
      if (!found) throw new Error("Nothing was answered.");
      return found;
    },
    nodes: () => draft.getState().document.order,
  };
}

export const progress = (step: string, more: object = {}): TurnEvent => ({
  event: "progress",
  step,
  attempt: 1,
  max_attempts: 1,
  message: "",
  ...more,
});

export const update = (change: FlowUpdate): TurnEvent => ({ event: "flow_update", ...change }) as TurnEvent;

export const complete = (data: Partial<Completed> = {}): TurnEvent => ({
  event: "complete",
  data: { result: "Done.", ...data },
});

/** A flow of steps in a row, each `id: Type`. */
export function flowOf(name: string, ...steps: string[]): Flow {
  const nodes = steps.map((step, at) => {
    const [id = "", type = ""] = step.split(": ");
    return { id, type, label: "", position: { x: at * 380, y: 0 }, params: {}, linked: {} };
  });
  const edges = nodes.slice(1).map((node, at) => ({
    source: nodes[at]?.id ?? "",
    output: "text",
    target: node.id,
    input: "input",
  }));
  return { name, description: "", nodes, edges, form: [] } as unknown as Flow;
}

export const CHATBOT = flowOf("Chatbot", "heard: ChatInput", "said: ChatOutput");
export const ECHO = flowOf("Echo", "ask: ChatInput", "answer: ChatOutput");
