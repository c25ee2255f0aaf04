import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { LocalModel, RoleState } from "@/api/queries/modelSetup";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { SetupGuide } from "./SetupGuide";

vi.setConfig({ testTimeout: 20_000 });

const LOCAL: LocalModel = {
  name: "tiny",
  use: "chat",
  label: "Tiny",
  size: 1000,
  licence: "",
  ready: false,
  done: 0,
  fetching: false,
  detail: "",
  remedy: "",
  failed: false,
};
const ADMIN = ["models.manage", "variables.manage"];

function role(name: RoleState["role"], model: string | null): RoleState {
  const problem = model ? "" : "No language model is connected.";
  return { role: name, model, params: {}, models: [], source: "settings", ready: model !== null, problem, remedy: "" };
}

/** The server's answers; what is changed, in order. */
function serve({ permissions = ADMIN, local = LOCAL }: { permissions?: string[]; local?: LocalModel } = {}) {
  const calls: unknown[] = [];
  let now = local;
  let model: string | null = null;
  const noted = async (name: string, request: Request) => calls.push([name, await request.json()]);
  server.use(
    http.get("*/api/v1/me", () =>
      HttpResponse.json({ permissions: { tenant: permissions, every_space: [], spaces: [] } }),
    ),
    http.get("*/api/v1/users", () =>
      HttpResponse.json({
        items: [
          { id: "1", name: "Anna", email: null, role: "admin", active: true, can_sign_in: true },
          { id: "2", name: "Bo", email: null, role: "member", active: true, can_sign_in: true },
        ],
      }),
    ),
    http.get("*/api/v1/local-models", () => HttpResponse.json([now])),
    http.post("*/api/v1/local-models/:name/fetch", () => {
      calls.push("fetch");
      now = { ...now, done: now.done + 250, fetching: true };
      return HttpResponse.json([now], { status: 202 });
    }),
    http.delete("*/api/v1/local-models/:name/fetch", () => {
      calls.push("stop");
      now = { ...now, fetching: false };
      return new HttpResponse(null, { status: 204 });
    }),
    http.get("*/api/v1/model-servers", () => HttpResponse.json({ items: [], presets: [] })),
    http.put("*/api/v1/model-servers/:name", async ({ params, request }) => {
      await noted(`connect ${String(params.name)}`, request);
      return HttpResponse.json({});
    }),
    http.post("*/api/v1/model-servers/:name/test", () => {
      const first = calls.filter((one) => one === "test").length === 0;
      calls.push("test");
      const tested = { models: ["qwen3"], list_ms: 3, model: "qwen3", answer_ms: 20, code: null };
      return HttpResponse.json({ ...tested, ok: !first, detail: first ? "Wrong key." : "", remedy: "" });
    }),
    http.put("*/api/v1/model-roles/:role", async ({ params, request }) => {
      await noted(`role ${String(params.role)}`, request);
      model = "vllm/qwen3";
      return HttpResponse.json({ items: [] });
    }),
    http.get("*/api/v1/model-roles", () =>
      HttpResponse.json({
        items: [role("default", model), role("assistant", model), role("codev", model), role("step", model)],
      }),
    ),
    http.get("*/api/v1/providers", () => HttpResponse.json([])),
    http.get("*/api/v1/models", () => HttpResponse.json([])),
  );
  return calls;
}

it("connects a server, tests it until it answers, and makes its model the default of every role", async () => {
  const calls = serve();
  const close = vi.fn();
  const user = userEvent.setup();
  renderStudio(<SetupGuide onClose={close} />);
  await user.click(await screen.findByRole("button", { name: /A model server/ }));
  await user.type(screen.getByLabelText(/^Name/), "vllm");
  await user.type(screen.getByLabelText(/^Address/), "http://127.0.0.1:8000/v1");
  await user.click(screen.getByRole("button", { name: "Save and test" }));
  expect(await screen.findByText("Wrong key.")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Continue" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Save and test" }));
  await user.click(await screen.findByRole("button", { name: "Continue" }));
  expect(screen.getByText("Choose").closest("li")).toHaveAttribute("aria-current", "step");
  expect(screen.getByLabelText(/Default model/)).toHaveTextContent("qwen3");
  await user.click(screen.getByRole("button", { name: "Use this model" }));
  const roles = await screen.findByRole("list", { name: "Models in use" });
  expect(await within(roles).findAllByText("vllm/qwen3")).toHaveLength(4);
  expect(calls.at(-1)).toEqual(["role default", { models: [{ model: "vllm/qwen3", params: {} }] }]);
  await user.click(screen.getByRole("button", { name: "Start building" }));
  expect(close).toHaveBeenCalledOnce();
});

it("opens at a fetch that was begun, stops it and continues it", async () => {
  const calls = serve({ local: { ...LOCAL, done: 500, fetching: true } });
  const user = userEvent.setup();
  renderStudio(<SetupGuide onClose={vi.fn()} />);
  expect(await screen.findByRole("progressbar", { name: "Download progress: Tiny" })).toHaveAttribute(
    "aria-valuenow",
    "50",
  );
  await user.click(screen.getByRole("button", { name: "Stop" }));
  const models = within(screen.getByRole("list", { name: "On this machine" }));
  await user.click(await models.findByRole("button", { name: "Resume" }));
  await screen.findByRole("progressbar");
  expect(calls).toEqual(["stop", "fetch"]);
});

it("continues from a local model to what it answers, without making it the assistant's", async () => {
  const calls = serve({ local: { ...LOCAL, done: 1000, ready: true } });
  const user = userEvent.setup();
  renderStudio(<SetupGuide onClose={vi.fn()} />);
  await user.click(await screen.findByRole("button", { name: /On this machine/ }));
  await user.click(await screen.findByRole("button", { name: "Continue" }));
  const roles = await screen.findByRole("list", { name: "Models in use" });
  expect(within(roles).getByText("Offline builder")).toBeVisible();
  expect(calls).toEqual([]);
});

it("says whom to ask to those who may not connect models", async () => {
  serve({ permissions: ["people.view"] });
  renderStudio(<SetupGuide onClose={vi.fn()} />);
  expect(await screen.findByText("You do not have permission to connect models. Ask Anna.")).toBeVisible();
  expect(screen.queryByRole("button", { name: /A model server/ })).toBeNull();
});
