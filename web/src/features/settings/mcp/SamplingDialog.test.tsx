import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import type { McpServer } from "./calls";
import { SamplingDialog } from "./SamplingDialog";

const ROW = { id: "s1", name: "helper", sampling: null } as unknown as McpServer;
const CHOSEN = { model: "openai/gpt-5-mini", max_tokens: 4000, max_requests: 5, ask: true };

function saved(): unknown[] {
  const sent: unknown[] = [];
  server.use(
    ...["providers", "models"].map((what) =>
      http.get(`${window.location.origin}/api/v1/${what}`, () => HttpResponse.json([])),
    ),
    http.patch(`${window.location.origin}/api/v1/mcp-servers/s1`, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(ROW);
    }),
  );
  return sent;
}

test("a server has no model until one is chosen, and then within limits", async () => {
  const sent = saved();
  const user = userEvent.setup();
  renderStudio(<SamplingDialog server={{ ...ROW, sampling: CHOSEN }} onClose={() => undefined} />);
  const requests = await screen.findByRole("spinbutton", { name: "Requests during a call, at most" });
  await user.clear(requests);
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
  await user.type(requests, "2");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await expect.poll(() => sent).toEqual([{ sampling: { ...CHOSEN, max_requests: 2 } }]);
});

test("a server whose model is turned off has none", async () => {
  const sent = saved();
  const user = userEvent.setup();
  renderStudio(<SamplingDialog server={{ ...ROW, sampling: CHOSEN }} onClose={() => undefined} />);
  await user.click(await screen.findByRole("switch", { name: "The server may ask a model" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  await expect.poll(() => sent).toEqual([{ sampling: null }]);
  await user.click(screen.getByRole("switch", { name: "The server may ask a model" }));
  expect(screen.getByRole("button", { name: "Save" })).toBeDisabled();
});
