import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it } from "vitest";
import type { Template } from "@/api/types";
import { NodeField } from "@/components/fields";
import { createDraftStore } from "@/lib/draft";
import { flowOut, renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { BrowseStorage } from ".";

const entry = (path: string, is_folder: boolean, size = 0) => ({
  name: path.split("/").pop(),
  path,
  is_folder,
  size,
  changed: "2026-01-01T00:00:00Z",
});
const ROOT = [entry("2027", true), entry("a.pdf", false, 2048)];
const asked: URLSearchParams[] = [];
const me = (permission: string) => ({ permissions: { tenant: [], every_space: [permission], spaces: [] } });

beforeEach(() => {
  asked.length = 0;
  server.use(
    http.get("*/api/v1/me", () => HttpResponse.json(me("flows.edit"))),
    http.get("*/api/v1/variables", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get("*/api/v1/connections", () =>
      HttpResponse.json({ items: [{ id: "c1", name: "archive", kind: "s3", owner_id: null }], next_cursor: null }),
    ),
    http.get("*/api/v1/connections/kinds", () => HttpResponse.json({ items: [], next_cursor: null })),
    http.get("*/api/v1/connections/c1/files", ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked.push(query);
      const folder = query.get("folder") ?? "";
      const items = folder === "" ? ROOT : folder === "2027" ? [entry("2027/b.csv", false, 4)] : [];
      const found = items.filter((one) => one.name?.includes(query.get("search") ?? ""));
      if (folder !== "2027") return HttpResponse.json({ items: found, next_cursor: null });
      return query.get("cursor")
        ? HttpResponse.json({ items: [entry("2027/c.csv", false, 4)], next_cursor: null })
        : HttpResponse.json({ items: found, next_cursor: "file:b.csv" });
    }),
  );
});

function shown(type: string, name: string, params: Record<string, string>) {
  const template: Template = {
    type,
    label: type,
    description: "",
    category: "",
    fields: [{ name, kind: "text", label: name, interpolate: false }],
    outputs: [{ name: "data", type: "Data", label: "Data" }],
  };
  const store = createDraftStore(flowOut({ nodes: [{ id: "node", type, params }], edges: [] }), [template]);
  const field = template.fields?.[0];
  if (!field) throw new Error("no field");
  renderStudio(<NodeField nodeId="node" field={field} />, { store });
  return () => store.getState().document.nodes.node?.params?.[name];
}

describe("browsing a storage", () => {
  it("chooses a folder, with the keyboard alone", async () => {
    const user = userEvent.setup();
    const value = shown("FolderFiles", "folder", { storage: "archive" });
    const button = await screen.findByRole("button", { name: "Browse" });
    button.focus();
    await user.keyboard("{Enter}");
    const folder = await screen.findByRole("button", { name: "Open 2027" });
    expect(screen.getByText(/2 KB/)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: /a\.pdf/ })).toBeNull();
    folder.focus();
    await user.keyboard("{Enter}");
    expect(await screen.findByText("b.csv")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Show more" }));
    expect(await screen.findByText("c.csv")).toBeInTheDocument();
    expect(asked.at(-1)?.get("cursor")).toBe("file:b.csv");
    await user.click(screen.getByRole("button", { name: "Choose this folder" }));
    await waitFor(() => expect(value()).toBe("2027"));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("chooses a file, searches, and goes back up", async () => {
    const user = userEvent.setup();
    const value = shown("MoveFile", "path", { storage: "archive", path: "2027/old.csv" });
    await user.click(await screen.findByRole("button", { name: "Browse" }));
    expect(await screen.findByText("b.csv")).toBeInTheDocument();
    await user.click(screen.getByRole("button", { name: "Top folder" }));
    await user.type(await screen.findByRole("searchbox"), "nothing");
    expect(await screen.findByText(/Nothing here contains/)).toBeInTheDocument();
    await user.clear(screen.getByRole("searchbox"));
    await user.click(await screen.findByRole("button", { name: /a\.pdf/ }));
    await waitFor(() => expect(value()).toBe("a.pdf"));
  });

  it("says what to do when the storage refuses", async () => {
    server.use(
      http.get("*/api/v1/connections/c1/files", () =>
        HttpResponse.json(
          { title: "Failed", status: 502, code: "upstream_failed", detail: "It failed.", remedy: "Check the keys." },
          { status: 502, headers: { "content-type": "application/problem+json" } },
        ),
      ),
    );
    renderStudio(<BrowseStorage spaceId="space-1" connection="archive" />);
    await userEvent.click(await screen.findByRole("button", { name: "Browse" }));
    expect(await screen.findByText(/Check the keys/)).toBeInTheDocument();
  });

  it("is not offered without a storage, or without the right to edit flows", async () => {
    shown("FolderFiles", "folder", {});
    server.use(http.get("*/api/v1/me", () => HttpResponse.json(me("flows.view"))));
    renderStudio(<BrowseStorage spaceId="space-1" connection="archive" />);
    await screen.findAllByRole("textbox");
    await waitFor(() => expect(screen.queryByRole("button", { name: "Browse" })).toBeNull());
  });
});
