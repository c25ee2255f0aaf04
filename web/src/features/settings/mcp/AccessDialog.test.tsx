import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { AccessDialog } from "./AccessDialog";
import type { McpServer } from "./calls";

const ROW = {
  id: "s1",
  name: "files",
  transport: "stdio",
  access: { hosts: ["api.example.org"], read: [], write: ["/srv/shared"] },
} as unknown as McpServer;

test("hosts and folders of a program are replaced as a whole, without empty lines", async () => {
  const sent: unknown[] = [];
  server.use(
    http.patch(`${window.location.origin}/api/v1/mcp-servers/s1`, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(ROW);
    }),
  );
  const user = userEvent.setup();
  renderStudio(<AccessDialog server={ROW} onClose={() => undefined} />);
  const hosts = await screen.findByRole("group", { name: "Hosts it may connect to" });
  expect(within(hosts).getByRole("textbox")).toHaveValue("api.example.org");
  await user.type(within(hosts).getByRole("textbox"), ":8443");
  const folders = screen.getByRole("group", { name: "Folders it may read" });
  await user.type(within(folders).getByRole("textbox"), "/srv/data");
  await user.clear(within(screen.getByRole("group", { name: "Folders it may change" })).getByRole("textbox"));
  await user.click(screen.getByRole("button", { name: "Save" }));
  await expect
    .poll(() => sent)
    .toEqual([{ access: { hosts: ["api.example.org:8443"], read: ["/srv/data"], write: [] } }]);
});
