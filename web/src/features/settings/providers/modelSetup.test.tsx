import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { LocalModel } from "@/api/queries/modelSetup";
import { Tested } from "@/components/modelSetup";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { LocalPart } from "./LocalPart";

vi.setConfig({ testTimeout: 20_000 });

const MODEL: LocalModel = {
  name: "qwen2.5-coder-1.5b",
  label: "Qwen2.5 Coder 1.5B",
  use: "chat",
  size: 1000,
  licence: "Apache-2.0",
  ready: false,
  done: 0,
  fetching: false,
  detail: "",
  remedy: "",
  failed: false,
};

it("fetches a local model, shows its progress and stops it", async () => {
  let model = MODEL;
  const calls: string[] = [];
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({ permissions: { tenant: ["models.manage"], every_space: [], spaces: [] } }),
    ),
    http.get("*/api/v1/local-models", () => HttpResponse.json([model])),
    http.post("*/api/v1/local-models/:name/fetch", ({ params }) => {
      calls.push(`fetch ${String(params.name)}`);
      model = { ...model, fetching: true, done: 250, detail: "Fetching." };
      return HttpResponse.json([model], { status: 202 });
    }),
    http.delete("*/api/v1/local-models/:name/fetch", ({ params }) => {
      calls.push(`stop ${String(params.name)}`);
      model = { ...model, fetching: false };
      return new HttpResponse(null, { status: 204 });
    }),
  );
  renderStudio(<LocalPart />);
  await userEvent.click(await screen.findByRole("button", { name: "Download" }));
  const bar = await screen.findByRole("progressbar", { name: "Download progress: Qwen2.5 Coder 1.5B" });
  expect(bar).toHaveAttribute("aria-valuenow", "25");
  await userEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(await screen.findByRole("button", { name: "Resume" })).toBeVisible();
  expect(calls).toEqual(["fetch qwen2.5-coder-1.5b", "stop qwen2.5-coder-1.5b"]);
});

it("says why a fetch failed and what to do", async () => {
  const failed = { ...MODEL, failed: true, detail: "No source has it.", remedy: "Check the network." };
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: [], every_space: [], spaces: [] } })),
    http.get("*/api/v1/local-models", () => HttpResponse.json([failed])),
  );
  renderStudio(<LocalPart />);
  const row = await screen.findByRole("listitem");
  expect(within(row).getByText("No source has it.")).toBeVisible();
  expect(within(row).getByText("Check the network.")).toBeVisible();
});

it("shows the models, the latency and the remedy of a test", async () => {
  const outcome = { models: ["qwen3"], list_ms: 12, model: "qwen3", answer_ms: 340, code: null };
  const { unmount } = renderStudio(<Tested name="vllm" outcome={{ ...outcome, ok: true, detail: "", remedy: "" }} />);
  expect(await screen.findByText("qwen3 responded in 340 ms.")).toBeVisible();
  unmount();
  renderStudio(
    <Tested name="vllm" outcome={{ ...outcome, ok: false, detail: "Refused.", remedy: "Change the key." }} />,
  );
  expect(await screen.findByText("Could not connect to vllm")).toBeVisible();
  expect(screen.getByText("Change the key.")).toBeVisible();
});
