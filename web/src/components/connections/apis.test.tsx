import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Connection } from "@/api/queries/connections";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { ApiDialog, ConnectionDialog } from ".";

const ORIGIN = window.location.origin;
const page = (items: unknown[]) => HttpResponse.json({ items, next_cursor: null });
const connection = { id: "c1", name: "tracker", kind: "bearer" } as Connection;
const described = { title: "Tracker", version: "1", format: "OpenAPI 3.1.0", sha256: "a", operations: 1, changed: 1 };
let sent: unknown[] = [];

beforeEach(() => {
  sent = [];
  const keep = async (request: Request) => sent.push(await request.json());
  server.use(
    http.get(`${ORIGIN}/api/v1/connections/c1/api`, () =>
      HttpResponse.json({ ...described, server: "", skipped: ["POST /files: no"], skipped_count: 1, created_at: "" }),
    ),
    http.get(`${ORIGIN}/api/v1/connections/c1/flows`, () =>
      page([
        { flow_id: "f1", flow: "Weekly report", nodes: ["list"], published: true, affected: ["GET /issues"] },
        { flow_id: "f2", flow: "Other", nodes: ["x"], published: false, affected: [] },
      ]),
    ),
    http.get(`${ORIGIN}/api/v1/connections/c1/operations`, () =>
      page([
        { key: "GET /issues", operation_id: "", summary: "List issues", tags: [], deprecated: false, changed: true },
      ]),
    ),
    http.post(`${ORIGIN}/api/v1/connections/c1/operations/accept`, async ({ request }) => {
      await keep(request);
      return page(["GET /issues"]);
    }),
    http.put(`${ORIGIN}/api/v1/connections/c1/api`, async ({ request }) => {
      await keep(request);
      return HttpResponse.json({ api: described, added: [], changed: [], removed: [] });
    }),
    http.get(`${ORIGIN}/api/v1/connections/kinds`, () =>
      page([
        {
          ...{ id: "smtp", label: "SMTP", description: "", category: "mail", adds: "none", grant: "", tested: true },
          ...{ ownership: "any", keywords: [], fields: [] },
        },
        {
          ...{ id: "public_api", label: "API without authentication", description: "", category: "api", adds: "hosts" },
          ...{ grant: "", tested: true, ownership: "any", keywords: [] },
          fields: [
            { name: "url", label: "Address", help: "", type: "url", required: true, options: [], advanced: false },
          ],
        },
      ]),
    ),
    http.post(`${ORIGIN}/api/v1/connections/suggestions`, () =>
      HttpResponse.json({
        ...{ title: "Tracker", format: "OpenAPI 3.1.0", operations: 1, kind: "public_api" },
        fields: { url: "https://api.tracker.example" },
      }),
    ),
    http.post(`${ORIGIN}/api/v1/connections`, async ({ request }) => {
      await keep(request);
      return HttpResponse.json({ ...connection, kind: "public_api" }, { status: 201 });
    }),
  );
});

describe("the API of a connection", () => {
  it("shows its operations, and accepts what was seen", async () => {
    renderStudio(<ApiDialog connection={connection} manage onClose={vi.fn()} />);
    expect(await screen.findByText("List issues")).toBeVisible();
    expect(screen.getByText("1 operation cannot be used")).toBeVisible();
    expect(await screen.findByText(/Weekly report/)).toHaveTextContent("Weekly report: GET /issues");
    expect(screen.queryByText(/Other/)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Accept" }));
    await waitFor(() => expect(sent).toEqual([{ operations: [], sha256: "a" }]));
  });

  it("is replaced by a pasted description", async () => {
    renderStudio(<ApiDialog connection={connection} manage onClose={vi.fn()} />);
    await screen.findByText("List issues");
    await userEvent.type(screen.getByLabelText("Text"), "curl https://api.tracker.example/issues");
    await userEvent.click(screen.getByRole("button", { name: "Replace description" }));
    await waitFor(() => expect(sent).toEqual([{ content: "curl https://api.tracker.example/issues", url: "" }]));
  });

  it("is changed by nobody who may not", async () => {
    renderStudio(<ApiDialog connection={connection} manage={false} onClose={vi.fn()} />);
    await screen.findByText("List issues");
    expect(screen.queryByRole("button", { name: "Accept" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Replace description" })).toBeNull();
  });
});

describe("a new connection", () => {
  it("begins with the description of its API", async () => {
    const onMade = vi.fn();
    renderStudio(<ConnectionDialog spaceId="space-1" onClose={vi.fn()} onMade={onMade} />);
    const text = await screen.findByRole("button", { name: /From the description of an API/ });
    await userEvent.click(text);
    await userEvent.type(screen.getByLabelText(/Address of the description/), "https://api.tracker.example/o.json");
    await userEvent.click(screen.getByRole("button", { name: "Read description" }));
    await userEvent.type(await screen.findByLabelText(/Name/), "tracker");
    expect(screen.getByLabelText(/Address/)).toHaveValue("https://api.tracker.example");
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(onMade).toHaveBeenCalled());
    expect(sent[1]).toEqual({ url: "https://api.tracker.example/o.json", content: "" });
  });
});
