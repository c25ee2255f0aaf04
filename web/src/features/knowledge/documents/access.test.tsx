import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import { server } from "@/testing/server";
import { API, DOCUMENT, openPage, serve } from "../serving";

vi.setConfig({ testTimeout: 20_000 });

const MEMBERS = [
  { user_id: "u2", name: "Ann", email: "ann@example.org" },
  { user_id: "u3", name: "", email: "bo@example.org" },
];

function serveAccess(permissions?: string[]) {
  const served = serve(permissions);
  server.use(
    http.get("*/api/v1/spaces/s/members", () => HttpResponse.json({ items: MEMBERS, next_cursor: null })),
    http.patch(`${API}/b1/documents/d1`, async ({ request }) => {
      served.sent.push(await request.json());
      return HttpResponse.json(DOCUMENT);
    }),
  );
  return served;
}

it("readers and retention of a document are changed", async () => {
  const served = serveAccess();
  served.documents = [{ ...DOCUMENT, readers: { role: "viewer", users: ["u2"], groups: ["g1"] }, retention_days: 30 }];
  const { user } = openPage("/knowledge/b1");
  expect(await screen.findByText(/2 listed readers · Kept 30 days$/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Readers, retention and metadata of travel.md" }));
  const dialog = within(screen.getByRole("dialog"));
  await user.click(dialog.getByRole("combobox", { name: /Lowest role/ }));
  await user.click(await screen.findByRole("option", { name: "Only listed readers and the owner" }));
  expect(await dialog.findByRole("checkbox", { name: "Ann" })).toBeChecked();
  await user.click(dialog.getByRole("checkbox", { name: "Ann" }));
  await user.click(dialog.getByRole("checkbox", { name: "bo@example.org" }));
  expect(dialog.getByRole("checkbox", { name: "g1" })).toBeChecked();
  const days = dialog.getByRole("spinbutton", { name: /Days that it is kept/ });
  await user.clear(days);
  await user.type(days, "1.5");
  expect(dialog.getByRole("button", { name: "Save" })).toBeDisabled();
  await user.clear(days);
  await user.click(dialog.getByRole("button", { name: "Save" }));
  await waitFor(() =>
    expect(served.sent).toEqual([{ readers: { role: null, users: ["u3"], groups: ["g1"] }, retention_days: null }]),
  );
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

it("an attachment leads to its message", async () => {
  const served = serveAccess();
  served.documents = [{ ...DOCUMENT, parent_id: "d9" }];
  openPage("/knowledge/b1");
  expect(await screen.findByText("Attachment")).toBeInTheDocument();
  openPage("/knowledge/b1?document=d1");
  expect(await screen.findByRole("link", { name: "Attachment of this message" })).toHaveAttribute(
    "href",
    "/knowledge/b1?document=d9",
  );
});

it("users who only view change neither", async () => {
  serveAccess(["knowledge.view"]);
  openPage("/knowledge/b1");
  expect(await screen.findByText("travel.md")).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: /Readers, retention/ })).toBeNull();
});
