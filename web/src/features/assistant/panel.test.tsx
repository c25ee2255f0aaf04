import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Flow, Template } from "@/api/types";
import { usePanels } from "@/lib/panels";
import { useRequests } from "@/lib/requests";
import { removeStored } from "@/lib/storage";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { AssistantDock } from "./index";
import type { TurnEvent } from "./model/wire";
import { complete, ECHO, scripted } from "./scripted";

const FILE: TurnEvent = {
  event: "file_written",
  action: "write_file",
  path: "docs/FLOW.md",
  size: 24,
  content: "# Echo\n\n<script>bad()</script>",
};

vi.setConfig({ testTimeout: 20_000 });
beforeEach(() => usePanels.getState().setOpen("assistant", true));
afterEach(() => {
  vi.restoreAllMocks();
  for (const key of ["assistant.flow-1", "assistant.history", "assistant.skip-all"]) removeStored(key);
});

async function open(flow: Flow = {} as Flow, templates: Template[] = []) {
  const user = userEvent.setup();
  const found = renderStudio(<AssistantDock />, { flow, templates });
  const input = await screen.findByRole<HTMLTextAreaElement>(
    "combobox",
    { name: "Message to the assistant" },
    { timeout: 10_000 },
  );
  return { user, input, ...found };
}

describe("the assistant's panel", () => {
  it("Open a written file renders inline content", async () => {
    const { sent } = scripted([FILE, complete({ result: "Written." })]);
    const { user, input } = await open();
    await user.type(input, "document this{Enter}");
    await user.click(await screen.findByRole("button", { name: "Open" }));
    const dialog = await screen.findByRole("dialog", { name: "docs/FLOW.md" });
    expect(await within(dialog).findByText("Echo")).toBeVisible();
    expect(dialog.querySelector("script")).toBeNull();
    expect(sent).toHaveLength(1);
    expect(screen.queryByRole("button", { name: "Continue" })).toBeNull();
  });

  it("Download a written file builds a Blob locally", async () => {
    scripted([FILE, complete({ result: "Written." })]);
    const made: Blob[] = [];
    const gone: string[] = [];
    const clicked: string[] = [];
    URL.createObjectURL = (blob: Blob) => `blob:${made.push(blob)}`;
    URL.revokeObjectURL = (address: string) => void gone.push(address);
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function click(this: HTMLAnchorElement) {
      clicked.push(`${this.download} ${this.href}`);
    });
    const { user, input } = await open();
    await user.type(input, "document this{Enter}");
    await user.click(await screen.findByRole("button", { name: "Download" }));
    expect(await made[0]?.text()).toBe(FILE.event === "file_written" ? FILE.content : "");
    expect(made[0]?.type).toBe("text/plain;charset=utf-8");
    expect(clicked).toEqual(["FLOW.md blob:1"]);
    expect(gone).toEqual(["blob:1"]);
  });

  it("Skip-all badge in header", async () => {
    scripted();
    const { user, input } = await open();
    expect(screen.queryByText("Skip-all")).toBeNull();
    await user.type(input, "/skip-all{Enter}");
    expect(screen.getByText("Skip-all")).toBeVisible();
    await user.type(input, "/skip-all{Enter}");
    await waitFor(() => expect(screen.queryByText("Skip-all")).toBeNull());
  });

  it("Input history — graceful degradation on storage failure", async () => {
    const { sent } = scripted([complete()], [complete()]);
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("no", "SecurityError");
    });
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new DOMException("no", "SecurityError");
    });
    const { user, input } = await open();
    await user.type(input, "hello{Enter}");
    await screen.findByText("Done.");
    expect(sent[0]?.input_value).toBe("hello");
    expect(input).toHaveValue("");
  });

  it("brings back what was sent with Up, and leaves a draft of several lines alone", async () => {
    scripted([complete()]);
    const { user, input } = await open();
    await user.type(input, "hello{Enter}");
    await screen.findByText("Done.");
    await user.keyboard("{ArrowUp}");
    expect(input).toHaveValue("hello");
    expect(input.selectionStart).toBe(5);
    await user.clear(input);
    await user.type(input, "one{Shift>}{Enter}{/Shift}two{ArrowUp}");
    expect(input).toHaveValue("one\ntwo");
  });

  it("Mentions of components and fields with @, by keyboard", async () => {
    scripted();
    const template = {
      type: "ChatInput",
      label: "Chat input",
      fields: [{ name: "text", kind: "text", label: "Text" }],
    } as unknown as Template;
    const { user, input, store } = await open(ECHO, [template]);
    await user.type(input, "look at @");
    expect(screen.getAllByRole("option")).toHaveLength(2);
    await user.keyboard("{ArrowDown}");
    expect(store.getState().selectedNodes).toEqual(["answer"]);
    await user.keyboard("{ArrowUp}{Enter}.");
    expect(screen.getByRole("listbox", { name: "Fields of ask" })).toBeVisible();
    await user.keyboard("{Enter}");
    expect(input).toHaveValue("look at 'ask.text' ");
    expect(screen.queryByRole("listbox")).toBeNull();
  });

  it("says who answers without a model, and connects one in place", async () => {
    scripted();
    server.use(
      http.get("*/api/v1/agentic/check-config", () =>
        HttpResponse.json({
          configured: false,
          configured_providers: [],
          providers: [],
          default_provider: "",
          default_model: "",
        }),
      ),
      http.get("*/api/v1/providers", () => HttpResponse.json([])),
    );
    const { user } = await open();
    expect(await screen.findByText("No language model is connected")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Connect a model" }));
    expect(await screen.findByRole("dialog")).toBeVisible();
  });

  it("that a key was refused is mended where it is told", async () => {
    scripted([
      {
        event: "error",
        message: "OpenAI did not accept the key",
        code: "model_key_rejected",
        remedy: "Correct it with `headgate variables set OPENAI_API_KEY`.",
      } as TurnEvent,
    ]);
    server.use(http.get("*/api/v1/providers", () => HttpResponse.json([])));
    const { user, input } = await open();
    await user.type(input, "build an echo{Enter}");
    const told = await screen.findByRole("alert");
    expect(within(told).getByText("headgate variables set OPENAI_API_KEY").tagName).toBe("CODE");
    await user.click(within(told).getByRole("button", { name: "Connect a provider…" }));
    expect(await screen.findByRole("dialog")).toBeVisible();
  });

  it("lets a model be chosen, and asks with it", async () => {
    const { sent } = scripted([complete()]);
    const { user, input } = await open();
    await user.click(await screen.findByRole("button", { name: "Model: openai/gpt-5-mini" }));
    await user.click(await screen.findByRole("menuitem", { name: "GPT-5 Mini" }));
    await user.type(input, "hello{Enter}");
    await screen.findByText("Done.");
    expect(sent[0]).toMatchObject({ provider: "openai", model_name: "gpt-5-mini" });
    removeStored("assistant.model");
  });

  it("is asked by other parts of the page", async () => {
    const { sent } = scripted([complete()]);
    usePanels.getState().setOpen("assistant", false);
    renderStudio(<AssistantDock />, {});
    useRequests.getState().requestAsk("explain this", true);
    await screen.findByText("Done.");
    expect(sent[0]?.input_value).toBe("explain this");
  });

  it("closes with Escape, and keeps what was said for the next visit", async () => {
    scripted([
      complete({
        usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        duration_seconds: 2,
        cost: { usd: 0.01 },
      }),
    ]);
    const { user, input, unmount } = await open();
    await user.type(input, "hello{Enter}");
    expect(await screen.findByRole("note", { name: "Tokens and duration of this answer" })).toHaveTextContent(
      "10 tokens · 2 s · $0.01",
    );
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("region", { name: "Assistant" })).toBeNull();
    unmount();
    usePanels.getState().setOpen("assistant", true);
    await open();
    expect(screen.getByText("hello")).toBeVisible();
    expect(screen.getByText("Done.")).toBeVisible();
  });
});
