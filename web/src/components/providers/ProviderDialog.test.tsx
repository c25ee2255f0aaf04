import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ProviderDialog } from "./ProviderDialog";
import type { Connection, Provider } from "./values";

vi.setConfig({ testTimeout: 20_000 });

const OPENAI = {
  id: "openai",
  label: "OpenAI",
  configured: false,
  installed: true,
  settings: [{ variable: "OPENAI_API_KEY", kind: "key", required: true, default: null }],
  variables: ["OPENAI_API_KEY"],
  default_model: "gpt-4o-mini",
  docs: "https://example.org/models",
} as unknown as Provider;

it("writes the key before it asks the provider, empties the field, and says what the provider said", async () => {
  const heard: unknown[] = [];
  const answers: Connection[] = [
    { ok: false, model: null, latency_ms: 3, code: "key_refused", detail: "Wrong key.", remedy: "Check it." },
    { ok: true, model: "gpt-4o-mini", latency_ms: 3, code: null, detail: "It answers.", remedy: null },
  ] as unknown as Connection[];
  server.use(
    http.get("*/api/v1/providers", () => HttpResponse.json([OPENAI])),
    http.get("*/api/v1/variables", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get("*/api/v1/me", () => HttpResponse.json({ permissions: { tenant: ["variables.manage"] } })),
    http.put("*/api/v1/organisation/variables/:name", async ({ params, request }) => {
      heard.push([params.name, await request.json()]);
      return HttpResponse.json({});
    }),
    http.post("*/api/v1/providers/openai/test", () => {
      heard.push("asked");
      return HttpResponse.json(answers.shift());
    }),
  );
  const done = vi.fn();
  const user = userEvent.setup();
  renderStudio(<ProviderDialog open onOpenChange={vi.fn()} onDone={done} />);
  await user.click(await screen.findByRole("button", { name: "Test connection" }));
  expect(screen.getByText("Enter a value.")).toBeInTheDocument();
  expect(heard).toEqual([]);
  const field = screen.getByLabelText(/API key/);
  expect(field).toHaveAttribute("type", "password");
  await user.type(field, "sk-1");
  await user.click(screen.getByRole("button", { name: "Save and test" }));
  expect(await screen.findByText(/Wrong key\./)).toBeInTheDocument();
  expect(heard).toEqual([["OPENAI_API_KEY", { value: "sk-1", secret: true, hosts: [] }], "asked"]);
  await user.type(field, "sk-2{Enter}");
  await user.click(await screen.findByRole("button", { name: "Done" }));
  expect(field).toHaveValue("");
  expect(done).toHaveBeenCalledOnce();
});
