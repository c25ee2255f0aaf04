import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { useRef } from "react";
import { expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { Composer } from "./Composer";
import { useCreateFlow } from "./useCreateFlow";

const REFUSED =
  "I cannot do that offline: I do not understand 'poem'.\n\nThe nearest things:\n- Sort the lines of a text";
const created = vi.fn();
const EXPENSES = {
  id: "expense-approval",
  title: "Expense approval",
  description: "Claims above a limit wait for a decision.",
  tags: [],
  needs_model: false,
  needs_network: false,
  needs_flows: [],
  needs_connections: [],
  triggers: [],
};

function Home() {
  const input = useRef<HTMLTextAreaElement>(null);
  const make = useCreateFlow(undefined);
  return (
    <Composer
      input={input}
      busy={make.busy}
      refusal={make.refusal}
      onAsk={make.sentence}
      onEmpty={make.empty}
      onFile={vi.fn()}
      elsewhere={false}
    />
  );
}

function serve(provider: string, answer: object) {
  created.mockClear();
  const asked = vi.fn();
  server.use(
    http.get("*/api/v1/templates", ({ request }) =>
      HttpResponse.json(new URL(request.url).searchParams.get("q") === "Approve expenses" ? [EXPENSES] : []),
    ),
    http.get("*/api/v1/agentic/check-config", () => HttpResponse.json({ default_provider: provider })),
    http.post("*/api/v1/agentic/assist", () => {
      asked();
      return HttpResponse.json(answer);
    }),
    http.post("*/api/v1/flows", () => {
      created();
      return HttpResponse.json({ id: "f1", name: "A" }, { status: 201 });
    }),
  );
  return asked;
}

async function say(words: string) {
  const user = userEvent.setup();
  const root = createRootRoute();
  const pages = ["/", "/templates", "/settings/{-$section}", "/flows/$flowId"].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: path === "/" ? Home : () => null }),
  );
  const router = createRouter({ routeTree: root.addChildren(pages), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />);
  await user.type(await screen.findByLabelText("Describe what the flow should do"), `${words}{Enter}`);
  return user;
}

it("stores nothing for a sentence that the offline builder refuses, and offers what it can build", async () => {
  serve("offline", { choices: ["Sort the lines of a text"], flow: null, flow_id: null, result: REFUSED });
  const user = await say("Write a poem");
  // The text is there before it is drawn as Markdown, which replaces it.
  await waitFor(() => expect(screen.getByText(/I do not understand 'poem'/)).toBeVisible());
  expect(created).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Sort the lines of a text" }));
  expect(screen.getByLabelText("Describe what the flow should do")).toHaveValue("Sort the lines of a text");
});

it("offers the templates that are near to a sentence that the offline builder refuses", async () => {
  serve("offline", { choices: [], flow: null, flow_id: null, result: REFUSED });
  await say("Approve expenses");
  const near = await screen.findByRole("region", { name: "Templates close to your request" });
  expect(within(near).getByRole("button", { name: "Expense approval" })).toBeVisible();
  expect(within(near).getByText("Claims above a limit wait for a decision.")).toBeVisible();
});

it("makes the flow of a sentence that the offline builder builds", async () => {
  serve("offline", { choices: [], flow: { nodes: [] }, flow_id: null, result: "Built." });
  await say("Sort the lines of a text");
  await vi.waitFor(() => expect(created).toHaveBeenCalledOnce());
});

it("does not ask a language model twice", async () => {
  const asked = serve("openai", {});
  await say("Write a poem");
  await vi.waitFor(() => expect(created).toHaveBeenCalledOnce());
  expect(asked).not.toHaveBeenCalled();
});
