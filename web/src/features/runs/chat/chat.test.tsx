import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { describe, expect, it } from "vitest";
import { server } from "@/testing/server";
import { messages, run, serve, show } from "./serving";

describe("the list of flows to chat with", () => {
  it("leads to the chat with one", async () => {
    serve();
    const { user, router } = show("/chat");
    await user.click(await screen.findByRole("link", { name: /Handbook/ }));
    expect(router.state.location.pathname).toBe("/chat/f1");
  });
});

describe("no flow to chat with", () => {
  it("leads to the templates of chats", async () => {
    serve();
    server.use(http.get("*/api/v1/chat/flows", () => HttpResponse.json({ items: [], next_cursor: null })));
    show("/chat");
    const link = await screen.findByRole("link", { name: "Start from a chat template" });
    expect(link).toHaveAttribute("href", "/templates?category=chat");
  });
});

describe("the chat with a flow", () => {
  it("greets, starts a conversation with the first message and shows the answer", async () => {
    const served = serve();
    const { user, router } = show("/chat/f1");
    expect(await screen.findByText("Hej")).toBeVisible();
    await user.type(await screen.findByRole("textbox", { name: "Message" }), "How long?{Enter}");
    expect(await within(await messages()).findByText("You said How long?")).toBeVisible();
    expect(served.sent).toEqual([
      ["POST", "/conversations", { flow_id: "f1" }],
      ["POST", "/conversations/c2/messages", { text: "How long?", file_ids: [], wait: false }],
    ]);
    expect(router.state.location.pathname).toBe("/chat/f1/c2");
    expect(screen.queryByRole("button", { name: "Add a file" })).toBeNull();
  });

  it("starts with a suggested question", async () => {
    const served = serve();
    const { user } = show("/chat/f1");
    await user.click(await screen.findByRole("button", { name: "How long?" }));
    expect(await within(await messages()).findByText("You said How long?")).toBeVisible();
    expect(served.sent).toHaveLength(2);
  });

  it("gives a refused message back, says why, and begins no second conversation", async () => {
    const served = serve({ refuse: true });
    const { user } = show("/chat/f1");
    const field = await screen.findByRole("textbox", { name: "Message" });
    await user.type(field, "hej{Enter}");
    expect(await screen.findByText(/The quota of today is used/)).toBeVisible();
    expect(field).toHaveValue("hej");
    served.refuse = false;
    await user.click(screen.getByRole("button", { name: "Send" }));
    expect(await within(await messages()).findByText("You said hej")).toBeVisible();
    expect(served.sent.filter(([, path]) => path === "/conversations")).toHaveLength(1);
  });

  it("shows the messages of a conversation in order, and sends the last one again", async () => {
    const served = serve({ runs: [run("r2", "second", "two"), run("r1", "first", "one")] });
    const { user } = show("/chat/f1/c1");
    const section = await messages();
    await within(section).findByText("two");
    const shown = section.textContent ?? "";
    expect(["first", "one", "second", "two"].map((text) => shown.indexOf(text))).toEqual(
      ["first", "one", "second", "two"].map((text) => shown.indexOf(text)).toSorted((one, other) => one - other),
    );
    await user.click(within(section).getByRole("button", { name: "Send again" }));
    await waitFor(() =>
      expect(served.sent).toMatchObject([["POST", "/conversations/c1/messages", { text: "second" }]]),
    );
  });

  it("takes feedback on an answer, with a correction", async () => {
    const served = serve({ runs: [run("r1", "first", "one")] });
    const { user } = show("/chat/f1/c1");
    await user.click(await within(await messages()).findByRole("button", { name: "Helpful" }));
    await user.click(within(await messages()).getByRole("button", { name: "Not helpful" }));
    await user.type(await screen.findByRole("textbox", { name: /correct answer/ }), "27 days");
    await user.click(screen.getByRole("button", { name: "Send feedback" }));
    const path = "/conversations/c1/messages/r1/feedback";
    await waitFor(() =>
      expect(served.sent).toEqual([
        ["PUT", path, { helpful: true, correction: "" }],
        ["PUT", path, { helpful: false, correction: "27 days" }],
      ]),
    );
  });

  it("draws hostile answers as text", async () => {
    serve({ runs: [run("r1", "x", "# A\n<img src=x onerror=alert(1)>[b](javascript:alert(1))")] });
    show("/chat/f1/c1");
    const section = await messages();
    await within(section).findByText("b");
    expect(section.querySelector("img, a[href^=javascript]")).toBeNull();
  });

  it("says what a failed answer failed with", async () => {
    const error = { code: "model_error", message: "The model is away. Choose another." };
    serve({ runs: [run("r1", "x", "", { status: "failed", error, text: null, output: null })] });
    show("/chat/f1/c1");
    expect(await screen.findByText("The model is away. Choose another.")).toBeVisible();
  });

  it("finds, renames and deletes conversations", async () => {
    const served = serve();
    const { user, router } = show("/chat/f1/c1");
    await user.type(await screen.findByRole("searchbox", { name: "Search conversations" }), "nothing");
    expect(await screen.findByText("Nothing matches.")).toBeInTheDocument();
    await user.clear(screen.getByRole("searchbox", { name: "Search conversations" }));
    await user.click(await screen.findByRole("button", { name: "Actions for Leave" }));
    await user.click(await screen.findByRole("menuitem", { name: "Rename" }));
    const title = await screen.findByLabelText(/Title/);
    await user.clear(title);
    await user.type(title, " Holiday {Enter}");
    await user.click(await screen.findByRole("button", { name: "Actions for Holiday" }));
    await user.click(await screen.findByRole("menuitem", { name: "Delete" }));
    await user.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/chat/f1"));
    expect(served.sent).toEqual([
      ["PATCH", "/conversations/c1", { title: "Holiday" }],
      ["DELETE", "/conversations/c1", null],
    ]);
  });

  it("says why a flow cannot be chatted with", async () => {
    serve();
    show("/chat/form");
    expect(await screen.findByText("It has a form.")).toBeVisible();
    expect(screen.getByText("Publish another.")).toBeVisible();
  });

  it("opens the passage that a number cites, and verifies it when asked", async () => {
    const passage = {
      ...{ base_id: "b1", document_id: "d1", document: "leave.md", version: 2, document_sha256: "d".repeat(64) },
      ...{ ordinal: 4, start: 0, end: 9, page: 3, sha256: "a".repeat(64), score: 1 },
    };
    const step = { step_id: "reply", type: "AnswerFromKnowledge", status: "completed", order: 1, label: "Reply" };
    const answer = "It is 27 days [1]. See [2] and `[1]`, [x](https://x.example).";
    serve({ runs: [run("r1", "x", answer, { steps: [step] as never })] });
    const asked: unknown[] = [];
    const verdict = { ...passage, verified: true, reason: "" };
    server.use(
      http.get("*/api/v1/flow-runs/r1/steps/reply", () =>
        HttpResponse.json({ ...step, tool_calls: [{ name: "knowledge.search", result: [passage] }] }),
      ),
      http.post("*/api/v1/knowledge-bases/verify", async ({ request }) => {
        asked.push(await request.json());
        return HttpResponse.json({ verified: true, citations: [verdict] });
      }),
    );
    const { user } = show("/chat/f1/c1");
    const section = await messages();
    const link = await within(section).findByRole("link", { name: "[1]" });
    const address = `/knowledge/b1?document=d1&passage=4&cited=${"a".repeat(64)}`;
    expect(decodeURIComponent(link.getAttribute("href") ?? "").replaceAll('"', "")).toBe(address);
    expect(within(section).queryByRole("link", { name: "[2]" })).toBeNull();
    expect(within(section).queryByText("Verified")).toBeNull();
    await user.click(within(section).getByRole("button", { name: "Verify the sources" }));
    expect(await within(section).findByText("Verified")).toBeVisible();
    const { document_id, version, document_sha256, start, end, sha256 } = passage;
    expect(asked).toEqual([{ citations: [{ document_id, version, document_sha256, start, end, sha256 }] }]);
  });
});
