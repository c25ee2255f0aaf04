import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { RingKey } from "@/api/queries/keyring";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { KeyringSection } from "./KeyringSection";

vi.setConfig({ testTimeout: 20_000 });

const FIRST: RingKey = {
  id: "firstsecret",
  purpose: "secrets",
  state: "current",
  readable: true,
  public_key: null,
  created_at: null,
  activated_at: null,
  replaced_at: null,
  retired_at: null,
  revoked_at: null,
  reason: null,
  values: { "variables.token": 3 },
  running: false,
  waiting_for: [],
  unreadable: {},
};
const SIGNING: RingKey = { ...FIRST, id: "firstsigner", purpose: "evidence", values: {}, public_key: "AAAA" };
const OLD: RingKey = { ...FIRST, state: "old", replaced_at: "2026-11-20T10:00:00Z" };
const NEW: RingKey = { ...FIRST, id: "newsecret", created_at: "2026-11-20T09:00:00Z", values: {} };

function serve(keys: () => RingKey[]) {
  server.use(http.get("*/api/v1/keyring", () => HttpResponse.json({ items: keys(), next_cursor: null })));
}

const row = (id: string) => screen.getByText(id).closest("li") as HTMLElement;

it("rotates the encryption key, follows the job, and retires the old key when no value uses it", async () => {
  let keys = [FIRST, SIGNING];
  const retired = vi.fn();
  serve(() => keys);
  server.use(
    http.post("*/api/v1/keyring/secrets/rotate", () => {
      keys = [FIRST, { ...NEW, state: "prepared", running: true, waiting_for: ["worker-7"] }, SIGNING];
      return HttpResponse.json({ items: keys, next_cursor: null }, { status: 202 });
    }),
    http.post("*/api/v1/keyring/keys/firstsecret/retire", () => {
      retired();
      keys = [{ ...OLD, state: "retired", values: {}, retired_at: "2026-11-21T10:00:00Z" }, NEW, SIGNING];
      return HttpResponse.json({ left: true });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<KeyringSection />);
  await user.click(await screen.findByRole("button", { name: "Rotate the encryption key" }));
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Rotate" }));
  expect(await screen.findByText(/Waiting for worker-7/)).toBeVisible();
  expect(within(row("newsecret")).getByText("Prepared")).toBeVisible();
  expect(screen.getByRole("button", { name: "Rotate the encryption key" })).toBeDisabled();
  keys = [
    { ...OLD, values: { "variables.token": 1 } },
    { ...NEW, running: true, values: { "variables.token": 3 } },
    SIGNING,
  ];
  const progress = await screen.findByRole("progressbar", { name: "Rotation is running" }, { timeout: 10_000 });
  expect(progress).toHaveAttribute("aria-valuenow", "75");
  expect(screen.getByText("Encrypting stored values again: 3 of 4 done.")).toBeVisible();
  expect(within(row("firstsecret")).getByText("Encrypts 1 stored value:")).toBeVisible();
  const retire = screen.getByRole("button", { name: "Retire firstsecret" });
  expect(retire).toBeDisabled();
  expect(retire).toHaveAccessibleDescription(/when its values have been encrypted with the current key/);
  keys = [{ ...OLD, values: {} }, NEW, SIGNING];
  await waitFor(() => expect(screen.getByRole("button", { name: "Retire firstsecret" })).toBeEnabled(), {
    timeout: 10_000,
  });
  await user.click(screen.getByRole("button", { name: "Retire firstsecret" }));
  expect(retired).not.toHaveBeenCalled();
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Retire" }));
  await waitFor(() => expect(within(row("firstsecret")).getByText("Retired")).toBeVisible());
  expect(screen.queryByRole("button", { name: "Retire firstsecret" })).toBeNull();
});

it("revokes a signing key for a stated reason, and shows the date", async () => {
  const old: RingKey = { ...SIGNING, state: "old", replaced_at: "2026-11-20T10:00:00Z" };
  let keys: RingKey[] = [FIRST, old, { ...SIGNING, id: "newsigner" }];
  const sent = vi.fn();
  serve(() => keys);
  server.use(
    http.post("*/api/v1/keyring/keys/firstsigner/revoke", async ({ request }) => {
      sent(await request.json());
      keys = keys.map((key) =>
        key.id === "firstsigner"
          ? { ...key, state: "revoked", revoked_at: "2026-11-22T10:00:00Z", reason: "Laptop stolen" }
          : key,
      );
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const user = userEvent.setup();
  renderStudio(<KeyringSection />);
  await user.click(await screen.findByRole("button", { name: "Revoke firstsigner" }));
  expect(screen.queryByRole("button", { name: "Revoke newsigner" })).toBeNull();
  const dialog = await screen.findByRole("dialog");
  expect(within(dialog).getByRole("button", { name: "Revoke" })).toBeDisabled();
  await user.type(within(dialog).getByLabelText(/Reason/), "Laptop stolen");
  await user.click(within(dialog).getByRole("button", { name: "Revoke" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(await screen.findByText("Laptop stolen")).toBeVisible();
  expect(within(row("firstsigner")).getByText(/revoked 22 Nov 2026/)).toBeVisible();
  expect(sent).toHaveBeenCalledExactlyOnceWith({ reason: "Laptop stolen" });
});

it("names the missing key that blocks a rotation, and what went wrong with the list", async () => {
  let broken = true;
  server.use(
    http.get("*/api/v1/keyring", () =>
      broken
        ? HttpResponse.json(
            { code: "permission_missing", title: "Not an admin", status: 403, detail: "Ask one of them.", remedy: "" },
            { status: 403 },
          )
        : HttpResponse.json({
            items: [OLD, { ...NEW, running: true, unreadable: { lostkey: 2 } }, SIGNING],
            next_cursor: null,
          }),
    ),
  );
  const user = userEvent.setup();
  renderStudio(<KeyringSection />);
  expect(await screen.findByText("Ask one of them.", { exact: false })).toBeVisible();
  broken = false;
  await user.click(screen.getByRole("button", { name: /again|retry/i }));
  expect(await screen.findByText(/2 values use key lostkey, which is missing/)).toBeVisible();
});
