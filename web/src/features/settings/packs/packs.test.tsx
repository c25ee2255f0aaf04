import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import type { Pack, PackPreview } from "@/api/queries/packs";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { PacksSection } from "./PacksSection";

vi.setConfig({ testTimeout: 20_000 });

const REACH = { imports: ["headgate", "re"], hosts: ["api.example.org"], files: false, secrets: ["Acme.token"] };
const PARTS = [
  { kind: "component", name: "AcmeTools", text: "" },
  { kind: "template", name: "acme-tools-first", text: "" },
  { kind: "skill", name: "acme-tools.latin", text: "Name every step in Latin." },
];
const PACK: Pack = {
  name: "acme-tools",
  version: "1.0.0",
  title: "Acme tools",
  description: "Tools of Acme.",
  author: "Acme",
  digest: "d",
  key_id: "k1",
  signer: { key_id: "k1", public_key: "AAAA", name: "Acme Inc", trusted_at: "2026-11-29T10:00:00Z" },
  installed_at: "2026-11-29T10:00:00Z",
  parts: PARTS,
  reach: REACH,
  flows: [{ flow_id: "f1", flow: "Invoices", published: true, outdated: true, problems: [] }],
  other_flows: 2,
};
const PREVIEW: PackPreview = {
  name: "acme-tools",
  version: "1.0.0",
  title: "Acme tools",
  description: "Tools of Acme.",
  author: "Acme",
  digest: "d",
  installed: null,
  key_id: "k1",
  public_key: "AAAA",
  signer: null,
  parts: PARTS,
  reach: REACH,
  changes: [],
  flows: [],
  other_flows: 0,
  other_breaking: 0,
};

function serve({ packs, preview = PREVIEW }: { packs: () => Pack[]; preview?: PackPreview }) {
  const sent = vi.fn();
  const page = (items: unknown[]) => HttpResponse.json({ items, next_cursor: null });
  server.use(
    http.get("*/api/v1/packs", () => page(packs())),
    http.get("*/api/v1/packs/signers", () => page(packs().flatMap((pack) => pack.signer ?? []))),
    http.post("*/api/v1/packs/preview", () => HttpResponse.json(preview)),
    http.post("*/api/v1/packs", async ({ request }) => {
      sent("install", await request.json());
      return HttpResponse.json(preview, { status: 201 });
    }),
    http.put("*/api/v1/packs/acme-tools", async ({ request }) => {
      sent("upgrade", await request.json());
      return HttpResponse.json(preview);
    }),
    http.delete("*/api/v1/packs/acme-tools", () => {
      sent("remove");
      const detail = "Flows use the pack acme-tools: 'Invoices'.";
      return HttpResponse.json({ title: "Pack in use", status: 409, code: "pack_in_use", detail }, { status: 409 });
    }),
    http.post("*/api/v1/packs/flows/f1/update", () => {
      sent("update");
      return HttpResponse.json({ flow_id: "f1", revision: 4 });
    }),
  );
  return sent;
}

function show() {
  const routeTree = createRootRoute({ component: PacksSection });
  renderStudio(<RouterProvider router={createRouter({ routeTree, history: createMemoryHistory() }) as never} />);
}

const choose = async (user: ReturnType<typeof userEvent.setup>) => {
  await screen.findByRole("button", { name: "Install a pack" });
  await user.upload(screen.getByLabelText("Pack file"), new File(["hi"], "acme.hgpack"));
  return within(await screen.findByRole("dialog"));
};

it("installs a pack of an unknown key only after the key is trusted", async () => {
  let packs: Pack[] = [];
  const sent = serve({ packs: () => packs });
  const user = userEvent.setup({ applyAccept: false });
  show();
  expect(await screen.findByText("No packs yet")).toBeVisible();
  const dialog = await choose(user);
  expect(dialog.getByText(/Network: api.example.org/)).toBeVisible();
  await user.click(dialog.getByText("acme-tools.latin"));
  expect(dialog.getByText("Name every step in Latin.")).toBeVisible();
  expect(dialog.getByText(/Compare the key.*AAAA/)).toBeVisible();
  const install = dialog.getByRole("button", { name: "Install" });
  expect(install).toBeDisabled();
  await user.click(dialog.getByRole("switch", { name: "Trust this key from now on" }));
  packs = [PACK];
  await user.click(install);
  expect(await screen.findByText("acme-tools 1.0.0")).toBeVisible();
  const body = { content: btoa("hi"), trust: "k1", allow_unsigned: false, allow_breaking: false };
  expect(sent).toHaveBeenCalledWith("install", body);
});

it("upgrades only with consent when the rehearsal finds flows that would not be ready", async () => {
  const flows = [
    { flow_id: "f1", flow: "Invoices", published: true, outdated: false, problems: ["No field 'times'."] },
  ];
  const changes = ["AcmeTools: the field 'times' is removed."];
  const preview = { ...PREVIEW, version: "2.0.0", installed: "1.0.0", signer: PACK.signer, changes, flows };
  const sent = serve({ packs: () => [PACK], preview });
  const user = userEvent.setup({ applyAccept: false });
  show();
  const dialog = await choose(user);
  expect(dialog.getByText("Upgrade Acme tools from 1.0.0 to 2.0.0")).toBeVisible();
  expect(dialog.getByText("AcmeTools: the field 'times' is removed.")).toBeVisible();
  expect(dialog.getByText("Would not be ready")).toBeVisible();
  const upgrade = dialog.getByRole("button", { name: "Upgrade" });
  expect(upgrade).toBeDisabled();
  await user.click(dialog.getByRole("switch", { name: /although flows would not be ready/ }));
  await user.click(upgrade);
  await vi.waitFor(() =>
    expect(sent).toHaveBeenCalledWith("upgrade", expect.objectContaining({ allow_breaking: true })),
  );
});

it("names the flows that use a pack, updates their draft, and keeps a pack whose removal is refused", async () => {
  const sent = serve({ packs: () => [PACK] });
  const user = userEvent.setup();
  show();
  expect(await screen.findByRole("link", { name: "Invoices" })).toBeVisible();
  expect(screen.getByText("Signed by Acme Inc")).toBeVisible();
  expect(screen.getByText("2 flows of other organisations use it.")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Update the draft of Invoices" }));
  await vi.waitFor(() => expect(sent).toHaveBeenCalledWith("update"));
  await user.click(screen.getByRole("button", { name: "Remove the pack Acme tools?" }));
  await user.click(within(await screen.findByRole("alertdialog")).getByRole("button", { name: "Remove" }));
  await vi.waitFor(() => expect(sent).toHaveBeenCalledWith("remove"));
  expect(screen.getByText("acme-tools 1.0.0")).toBeVisible();
});
