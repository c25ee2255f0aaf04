import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { KnowledgeSource } from "@/api/queries/knowledgeSources";
import { server } from "@/testing/server";
import { API, openPage, serve } from "../serving";

vi.setConfig({ testTimeout: 20_000 });

const SOURCE: KnowledgeSource = {
  id: "s1",
  base_id: "b1",
  name: "Site",
  owner_user_id: "u",
  config: { kind: "web", url: "https://docs.example.org", follow: "page", depth: 2, most_pages: 200, hosts: [] },
  every_seconds: 86_400,
  readers: { role: "viewer", users: [], groups: [] },
  classification: 0,
  metadata: {},
  status: "ready",
  problem: "",
  report: { listed: 3, done: 3, added: 1, changed: 1, unchanged: 1, deleted: 2, failed: 1, complete: true, notes: [] },
  documents: 3,
  problems: 1,
  next_at: null,
  synced_at: "2026-01-01T00:00:00Z",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

function serveSources(...sources: KnowledgeSource[]) {
  const served = { ...serve(), sources };
  server.use(
    http.get(`${API}/b1/sources`, () => HttpResponse.json(served.sources)),
    http.get(`${API}/b1/sources/s1/problems`, () =>
      HttpResponse.json([{ key: "a.docx", document_id: null, document: "", reasons: ["It is not a Word document."] }]),
    ),
    http.get("*/api/v1/connections", () =>
      HttpResponse.json({
        items: [
          { id: "c1", name: "archive", kind: "s3" },
          { id: "c2", name: "inbox", kind: "imap" },
          { id: "c3", name: "code", kind: "git" },
        ],
      }),
    ),
    http.post(`${API}/b1/sources`, async ({ request }) => {
      served.sent.push(await request.json());
      served.sources = [SOURCE];
      return HttpResponse.json(SOURCE, { status: 201 });
    }),
    http.post(`${API}/b1/sources/s1/sync`, () => {
      served.sources = [{ ...SOURCE, status: "running", report: { listed: 9, done: 4 } }];
      return HttpResponse.json(served.sources[0], { status: 202 });
    }),
    http.patch(`${API}/b1/sources/s1`, async ({ request }) => {
      served.sent.push(await request.json());
      return HttpResponse.json(served.sources[0]);
    }),
    http.delete(`${API}/b1/sources/s1`, () => {
      served.sources = [];
      return new HttpResponse(null, { status: 204 });
    }),
  );
  return served;
}

it("a website is added, with its schedule and readers", async () => {
  const served = serveSources();
  const { user } = openPage("/knowledge/b1?view=sources");
  expect(await screen.findByText("No sources yet")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Add source" }));
  const dialog = within(screen.getByRole("dialog", { name: "Add source" }));
  await user.type(dialog.getByRole("textbox", { name: /^Name/ }), "Site");
  expect(dialog.getByRole("button", { name: "Add source" })).toBeDisabled();
  await user.type(dialog.getByRole("textbox", { name: /^Address/ }), "https://docs.example.org");
  await user.type(dialog.getByRole("textbox", { name: /^Other hosts/ }), "a.org, b.org");
  await user.click(dialog.getByRole("button", { name: "Add source" }));
  await waitFor(() =>
    expect(served.sent).toEqual([
      {
        name: "Site",
        metadata: {},
        config: {
          kind: "web",
          url: "https://docs.example.org",
          follow: "page",
          depth: 2,
          most_pages: 200,
          hosts: ["a.org", "b.org"],
        },
        every_seconds: 86_400,
        readers: { role: "viewer", users: [], groups: [] },
        classification: 0,
      },
    ]),
  );
  expect(await screen.findByText("1 added, 1 changed, 1 unchanged, 2 deleted")).toBeInTheDocument();
});

it("a storage takes connections of its kinds only", async () => {
  serveSources();
  const { user } = openPage("/knowledge/b1?view=sources");
  await user.click(await screen.findByRole("button", { name: "Add source" }));
  await user.click(screen.getByRole("combobox", { name: "Kind" }));
  await user.click(await screen.findByRole("option", { name: "Files of a storage" }));
  await user.click(await screen.findByRole("combobox", { name: /Connection/ }));
  expect((await screen.findAllByRole("option")).map((option) => option.textContent)).toEqual(["archive"]);
});

it("a repository is added with its branch and pattern", async () => {
  const served = serveSources();
  const { user } = openPage("/knowledge/b1?view=sources");
  await user.click(await screen.findByRole("button", { name: "Add source" }));
  const dialog = within(screen.getByRole("dialog", { name: "Add source" }));
  await user.type(dialog.getByRole("textbox", { name: /^Name/ }), "Manual");
  await user.click(dialog.getByRole("combobox", { name: "Kind" }));
  await user.click(await screen.findByRole("option", { name: "Git repository" }));
  await user.click(await screen.findByRole("combobox", { name: /Connection/ }));
  await user.click(await screen.findByRole("option", { name: "code" }));
  await user.type(dialog.getByRole("textbox", { name: /^Repository/ }), "acme/manual");
  await user.type(dialog.getByRole("textbox", { name: /^Branch/ }), "main");
  await user.click(dialog.getByRole("button", { name: "Add source" }));
  await waitFor(() =>
    expect(served.sent).toMatchObject([
      { config: { kind: "git", connection: "code", repository: "acme/manual", ref: "main", pattern: "**/*" } },
    ]),
  );
});

it("one says what was not understood, and is synchronised", async () => {
  serveSources(SOURCE);
  const { user } = openPage("/knowledge/b1?view=sources");
  await user.click(await screen.findByText("1 item was not understood completely"));
  expect(await screen.findByText("It is not a Word document.")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Synchronise Site" }));
  expect(await screen.findByText("4 of 9 items")).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Synchronise Site" })).toBeDisabled();
});

it("one is changed, and keeps what is not", async () => {
  const custom = { ...SOURCE, every_seconds: 7200, readers: { role: null, users: ["u2"], groups: [] } };
  const served = serveSources(custom);
  const { user } = openPage("/knowledge/b1?view=sources");
  await user.click(await screen.findByRole("button", { name: "Change source Site" }));
  const dialog = within(screen.getByRole("dialog", { name: "Change source Site" }));
  expect(dialog.queryByRole("textbox", { name: /^Name/ })).toBeNull();
  const address = dialog.getByRole("textbox", { name: /^Address/ });
  expect(address).toHaveValue(custom.config.kind === "web" ? custom.config.url : "");
  await user.clear(address);
  await user.type(address, "https://new.example.org");
  await user.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() =>
    expect(served.sent).toEqual([
      {
        config: { ...custom.config, url: "https://new.example.org" },
        every_seconds: 7200,
        readers: { role: null, users: ["u2"], groups: [] },
      },
    ]),
  );
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

it("one that failed says why, and is deleted after a confirmation", async () => {
  serveSources({ ...SOURCE, status: "failed", problem: "There is no connection 'archive'.", problems: 0 });
  const { user } = openPage("/knowledge/b1?view=sources");
  expect(await screen.findByText("There is no connection 'archive'.")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Delete source Site" }));
  await user.click(within(screen.getByRole("alertdialog")).getByRole("button", { name: "Delete" }));
  expect(await screen.findByText("No sources yet")).toBeInTheDocument();
});

it("users who only view have no sources", async () => {
  serve(["knowledge.view"]);
  openPage("/knowledge/b1?view=sources");
  expect(await screen.findByText("travel.md")).toBeInTheDocument();
  expect(screen.queryByRole("tab", { name: "Sources" })).toBeNull();
});
