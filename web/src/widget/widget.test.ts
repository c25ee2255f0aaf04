import { describe, expect, it, vi } from "vitest";
import { inkOn } from "./colour";
import { EventParser } from "./events";
import { FormFields } from "./fields";
import { Reply } from "./reply";
import { type Field, Refused, type Sent, type Transport } from "./transport";
import { mountWidget } from "./view";

const field = (about: Partial<Field>): Field => ({
  id: "a",
  label: "A",
  type: "text",
  required: false,
  options: [],
  ...about,
});

describe("events in pieces", () => {
  it("are put together wherever they are cut", () => {
    const text =
      'id: 1\nevent: text\ndata: {"text":"å\\n"}\n\n: still here\n\nid: 2\nevent: done\ndata: {"text":"b"}\n\n';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new EventParser();
      const found = [...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))];
      expect(found).toEqual([
        { kind: "text", data: { text: "å\n" } },
        { kind: "done", data: { text: "b" } },
      ]);
    }
  });
  it("that are no JSON are passed over", () => expect(new EventParser().feed("event: a\ndata: {\n\n")).toEqual([]));
});

describe("a reply", () => {
  it("says that its run waits for approval, then what came of it", async () => {
    const notes: string[] = [];
    const reply = new Reply("them");
    const note = () => reply.node.querySelector("[role=status]")?.textContent ?? "";
    const transport = {
      start: async () => "run",
      async *hear() {
        yield { kind: "waiting" } as const;
        notes.push(note());
        yield { kind: "text", text: "Dear Eva" } as const;
        notes.push(note());
        yield { kind: "done", text: "Dear Eva", files: [], cut: false } as const;
        notes.push(note());
      },
    } as unknown as Transport;
    await reply.run(
      transport,
      async () => ({}) as Sent,
      new AbortController().signal,
      () => undefined,
    );
    expect(notes).toEqual(["Waiting for approval. The answer appears here once somebody has decided.", "Working…", ""]);
  });
});

describe("an answer", () => {
  const answered = async (rate: Transport["rate"]) => {
    const transport = {
      start: async () => "run",
      async *hear() {
        yield { kind: "done", text: "30 days", files: [], cut: false } as const;
      },
      rate,
    } as unknown as Transport;
    const reply = new Reply("them");
    const nothing = async () => ({}) as Sent;
    await reply.run(transport, nothing, new AbortController().signal, () => undefined);
    const button = (name: string) => reply.node.querySelector<HTMLButtonElement>(`[aria-label="${name}"]`);
    const note = () => reply.node.querySelector(".rating [role=status]")?.textContent;
    return { reply, button, note };
  };

  it("is rated, and corrected", async () => {
    const rate = vi.fn(async () => undefined);
    const { reply, button, note } = await answered(rate);
    const form = reply.node.querySelector("form");
    expect(form?.hidden).toBe(true);
    button("Not helpful")?.click();
    await vi.waitFor(() => expect(button("Not helpful")?.getAttribute("aria-pressed")).toBe("true"));
    expect(form?.hidden).toBe(false);
    const text = form?.querySelector("textarea");
    if (text) text.value = " 27 days ";
    form?.requestSubmit();
    await vi.waitFor(() => expect(form?.hidden).toBe(true));
    expect(note()).toBe("Thank you for your feedback.");
    button("Helpful")?.click();
    await vi.waitFor(() => expect(button("Not helpful")?.getAttribute("aria-pressed")).toBe("false"));
    expect(rate.mock.calls).toEqual([
      ["run", false, ""],
      ["run", false, "27 days"],
      ["run", true, ""],
    ]);
  });
  it("keeps no rating that the server refused, and says why", async () => {
    const { button, note } = await answered(async () => {
      throw new Refused("Too many.", "rate_limited");
    });
    button("Helpful")?.click();
    await vi.waitFor(() => expect(note()).toBe("Too many."));
    expect(button("Helpful")?.getAttribute("aria-pressed")).toBe("false");
  });
});

describe("a chat", () => {
  it("starts with a suggested question", () => {
    const root = document.createElement("div");
    const about = {
      flow_id: "f",
      kind: "chat",
      color: "#0f766e",
      theme: "light",
      title: "",
      welcome_text: "",
    } as const;
    mountWidget(root, { ...about, questions: ["How long?"], form: [], visit: "" }, null);
    document.body.append(root);
    root.querySelector<HTMLButtonElement>(".questions button")?.click();
    expect(root.querySelector(".mine")?.textContent).toContain("How long?");
    expect(root.querySelector(".questions")).toBeNull();
    root.remove();
  });
});

describe("the colour of words on a colour", () => {
  it("is the one that is read better", () => {
    expect(inkOn("#0f766e")).toBe("#ffffff");
    expect(inkOn("#ffe600")).toBe("#000000");
  });
});

describe("a form", () => {
  it("draws all kinds of fields", () => {
    const kinds = ["text", "long_text", "number", "select", "multiselect", "checkbox", "date", "file"] as const;
    const form = new FormFields(
      kinds.map((type) => field({ id: type, type, options: type.endsWith("select") ? ["x"] : [] })),
    );
    expect(form.nodes.map((node) => node.querySelector("input, select, textarea")?.tagName)).toEqual([
      ..."TEXTAREA TEXTAREA INPUT SELECT INPUT INPUT INPUT INPUT".split(" "),
    ]);
  });
  it("asks for what is required, and goes there", () => {
    const form = new FormFields([field({ id: "a" }), field({ id: "b", required: true })]);
    document.body.replaceChildren(...form.nodes);
    expect(form.check()).toBe(false);
    expect(document.activeElement?.id).toBe("field-1");
    expect(form.nodes[1]?.querySelector(".wrong")?.textContent).not.toBe("");
    (document.activeElement as HTMLTextAreaElement).value = "x";
    expect(form.check()).toBe(true);
    expect(form.nodes[1]?.querySelector(".wrong")?.textContent).toBe("");
  });
  it("answers in the types of its fields, within their bounds", async () => {
    const form = new FormFields([
      field({ id: "kinds", type: "multiselect", options: ["a", "b", "c"], max: 1 }),
      field({ id: "read", type: "checkbox", required: true }),
      field({ id: "on", type: "date" }),
      field({ id: "why", type: "long_text", min: 3 }),
    ]);
    document.body.replaceChildren(...form.nodes);
    const boxes = [...document.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
    const [first, second, , read] = boxes;
    const why = document.querySelector("textarea");
    if (!first || !second || !read || !why) throw new Error("a control is missing");
    first.checked = second.checked = true;
    why.value = "no";
    expect(form.check()).toBe(false);
    expect(form.nodes.map((node) => node.querySelector(".wrong")?.textContent)).toEqual([
      "Choose at most 1.",
      "Check this first.",
      "",
      "At least 3 characters.",
    ]);
    first.checked = false;
    read.checked = true;
    why.value = "because";
    expect(form.check()).toBe(true);
    expect(await form.answers(vi.fn())).toEqual({ form_data: { kinds: ["b"], read: true, why: "because" } });
  });
  it("sends files first and answers with what they are called then", async () => {
    const form = new FormFields([field({ id: "f", type: "file" }), field({ id: "n", type: "number" })]);
    const [file, number] = form.nodes.map((node) => node.querySelector("input") as HTMLInputElement);
    const given = new File(["x"], "x.txt");
    Object.defineProperty(file, "files", { value: [given] });
    file?.dispatchEvent(new Event("change"));
    if (number) number.value = "2.5";
    const upload = vi.fn(async () => "token");
    expect(await form.answers(upload)).toEqual({ form_data: { f: ["token"], n: 2.5 } });
    expect(upload).toHaveBeenCalledWith(given);
  });
  it("takes names that are markup for text", () => {
    const form = new FormFields([field({ label: "<img src=x>" })]);
    expect(form.nodes[0]?.querySelector("img")).toBeNull();
  });
});
