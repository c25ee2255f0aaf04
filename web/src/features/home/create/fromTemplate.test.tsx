import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { setLanguage } from "@/lib/i18n/i18n";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { useCreateFlow } from "./useCreateFlow";

const NODES = [
  { id: "letter", type: "ChatOutput", label: "Approved" },
  { id: "said", type: "ChatOutput" },
];
const TEMPLATE = {
  id: "approval-loop",
  title: "Godkännande i rundor",
  description: "Kör flödet.",
  sample: {},
  definition: { nodes: NODES },
};

function Home() {
  const make = useCreateFlow(undefined);
  return (
    <button type="button" onClick={() => make.template(TEMPLATE as never)}>
      Use
    </button>
  );
}

it("names the flow of a template and its steps as the reader saw it, in their language", async () => {
  const created = vi.fn();
  await setLanguage("sv");
  server.use(
    http.get("*/api/v1/packs/words/sv", () => HttpResponse.json({ words: {} })),
    http.post("*/api/v1/flows", async ({ request }) => {
      created(await request.json());
      return HttpResponse.json({ id: "f1", name: "A" }, { status: 201 });
    }),
  );
  const root = createRootRoute();
  const pages = ["/", "/flows/$flowId"].map((path) =>
    createRoute({ getParentRoute: () => root, path, component: path === "/" ? Home : () => null }),
  );
  const router = createRouter({ routeTree: root.addChildren(pages), history: createMemoryHistory() });
  renderStudio(<RouterProvider router={router as never} />);
  await userEvent.click(await screen.findByRole("button", { name: "Use" }));
  await vi.waitFor(() =>
    expect(created).toHaveBeenCalledWith({
      template: "approval-loop",
      name: "Godkännande i rundor",
      description: "Kör flödet.",
      labels: { letter: "Godkänd" },
    }),
  );
  await setLanguage("en");
});
