import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it, vi } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ModelList } from "./ModelList";

const ORIGIN = window.location.origin;
const info = (provider: string, name: string) => ({
  provider,
  name,
  label: name,
  vision: false,
  audio: false,
  context_window: null,
  price_in: null,
  price_out: null,
});
let offered: unknown[];
let asked: string[];

beforeEach(() => {
  offered = [info("openai_compatible", "Qwen/Qwen3-32B")];
  asked = [];
  server.use(
    http.get(`${ORIGIN}/api/v1/model-classes`, () => HttpResponse.json({ enabled: false, levels: [], items: [] })),
    http.get(`${ORIGIN}/api/v1/providers`, () =>
      HttpResponse.json([
        { id: "openai_compatible", label: "OpenAI-compatible server", configured: true, reason: "Ready." },
        { id: "ollama", label: "Ollama", configured: false, reason: "No Ollama server answers at http://x." },
      ]),
    ),
    http.get(`${ORIGIN}/api/v1/models`, ({ request }) => {
      asked.push(new URL(request.url).search);
      return HttpResponse.json(offered);
    }),
  );
});

it("offers what a server lists, and asks it again", async () => {
  const onPick = vi.fn();
  renderStudio(<ModelList now={null} onPick={onPick} onConnect={vi.fn()} />);
  await screen.findByText("Qwen/Qwen3-32B");
  offered = [...offered, info("openai_compatible", "brand-new")];
  await userEvent.click(screen.getByRole("button", { name: "Refresh" }));
  await userEvent.click(await screen.findByText("brand-new"));
  expect(onPick).toHaveBeenCalledWith({ provider: "openai_compatible", name: "brand-new" });
  expect(asked).toEqual(["", "?refresh=true"]);
});

it("says why a provider has no models", async () => {
  offered = [];
  renderStudio(<ModelList now={null} onPick={vi.fn()} onConnect={vi.fn()} />);
  expect(await screen.findByText(/does not list its models. Enter openai_compatible\//)).toBeVisible();
  expect(screen.getByText("No Ollama server answers at http://x.")).toBeVisible();
});
