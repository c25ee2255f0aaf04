import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { kept, serve, show } from "./serving";

vi.setConfig({ testTimeout: 20_000 });

beforeEach(serve);

describe("tests from questions", () => {
  it("are made of those of a knowledge base", async () => {
    const sent: unknown[] = [];
    server.use(
      http.get("*/api/v1/knowledge-bases", () => HttpResponse.json({ items: [{ id: "b1", name: "Handbook" }] })),
      http.get("*/api/v1/providers", () => HttpResponse.json([])),
      http.get("*/api/v1/models", () => HttpResponse.json([])),
      http.post("*/api/v1/flows/flow-1/tests/questions", async ({ request }) => {
        sent.push(await request.json());
        return HttpResponse.json({ added: ["Lisbon?"], skipped: 1, left: 2 }, { status: 201 });
      }),
    );
    const user = userEvent.setup();
    show();
    await user.click(await screen.findByRole("button", { name: "From questions" }));
    const dialog = within(await screen.findByRole("dialog"));
    expect(dialog.getByRole("button", { name: "Add the tests" })).toBeDisabled();
    await user.click(await dialog.findByRole("combobox", { name: "Knowledge base" }));
    await user.click(await screen.findByRole("option", { name: "Handbook" }));
    await user.click(dialog.getByRole("switch", { name: "Passages must support every sentence" }));
    await user.click(dialog.getByRole("button", { name: "Add the tests" }));
    await waitFor(() => expect(sent).toEqual([{ base_id: "b1", judge_model: "", supported: true }]));
    expect(await screen.findByText("1 tests added, 1 questions skipped")).toBeInTheDocument();
    expect(screen.getByText("2 questions did not fit: a flow has at most 50 tests.")).toBeInTheDocument();
  });

  it("are not offered to users who only view", async () => {
    kept.permissions = [];
    show();
    expect(await screen.findByText("No tests yet")).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "From questions" })).toBeNull();
  });
});
