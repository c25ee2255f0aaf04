import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ServersPart } from "./ServersPart";

vi.setConfig({ testTimeout: 20_000 });

const MINE = {
  name: "mine",
  space_id: "space-1",
  kind: "openai",
  address: "http://a:1/v1",
  secret_names: ["key"],
  updated_at: "2026-11-30T10:00:00Z",
};

function serve() {
  const written: unknown[] = [];
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({ permissions: { tenant: ["variables.manage"], every_space: [], spaces: [] } }),
    ),
    http.get("*/api/v1/model-servers", () => HttpResponse.json({ items: [MINE], presets: [] })),
    http.put("*/api/v1/model-servers/:name", async ({ params, request }) => {
      written.push([params.name, new URL(request.url).search, await request.json()]);
      return HttpResponse.json(MINE);
    }),
    http.post("*/api/v1/model-servers/:name/test", () =>
      HttpResponse.json({ ok: true, models: ["m"], list_ms: 1, model: "m", answer_ms: 2, detail: "", remedy: "" }),
    ),
  );
  return written;
}

it("does not call a server of somebody else OpenAI", async () => {
  serve();
  renderStudio(<ServersPart />);
  expect(await screen.findByText("OpenAI-compatible")).toBeVisible();
});

it("changes the address of a server where it is, and keeps what was not typed again", async () => {
  const written = serve();
  renderStudio(<ServersPart />);
  await userEvent.click(await screen.findByRole("button", { name: "Change mine" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Change mine" }));
  expect(dialog.getByRole("textbox", { name: /^Name/ })).toBeDisabled();
  const address = dialog.getByRole("textbox", { name: /^Address/ });
  expect(address).toHaveValue("http://a:1/v1");
  expect(dialog.getByText("Leave empty to keep what is stored.")).toBeVisible();
  await userEvent.type(address, "/");
  expect(dialog.getByText("What is stored is not sent to another address: enter it again.")).toBeVisible();
  await userEvent.clear(address);
  await userEvent.type(address, "http://a:1/v1");
  await userEvent.click(dialog.getByRole("button", { name: "Save and test" }));
  expect(await dialog.findByText("Connected to mine")).toBeVisible();
  expect(written).toEqual([["mine", "?space_id=space-1", { kind: "openai", address: "http://a:1/v1" }]]);
});
