import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, test } from "vitest";
import { renderStudio } from "@/testing/render";
import { server } from "@/testing/server";
import { useProviderAnswer } from "./useProviderAnswer";

const ORIGIN = window.location.origin;
const API = `${ORIGIN}/api/v1`;

function Answer() {
  const { finish, tools } = useProviderAnswer();
  return (
    <p>
      {finish.data?.name} {tools.isSuccess && "listed"}{" "}
      {tools.data?.map(({ name, count }) => `${name}: ${count}`).join(", ")}
    </p>
  );
}

const me = (...permissions: string[]) =>
  http.get(`${API}/me`, () =>
    HttpResponse.json({ permissions: { tenant: [], every_space: [], spaces: [{ space_id: "space", permissions }] } }),
  );

const answered = () =>
  http.post(`${API}/connections/authorizations`, () => HttpResponse.json({ name: "tickets", space_id: "space" }));

test("who may not manage the servers of the space signs in without listing tools", async () => {
  let asked = 0;
  const count = () => {
    asked += 1;
    return HttpResponse.json({ items: [], next_cursor: null });
  };
  server.use(me("mcp_servers.view"), answered(), http.get(`${API}/mcp-servers`, count));
  window.history.replaceState(null, "", "/settings/connections?state=abc&code=def");
  renderStudio(<Answer />);
  expect(await screen.findByText("tickets listed")).toBeVisible();
  expect(asked).toBe(0);
});

test("a sign-in lists the tools of the servers that send its token", async () => {
  const refreshed: string[] = [];
  const servers = [
    { id: "s1", name: "tickets", connection: "tickets", enabled: true },
    { id: "s2", name: "paused", connection: "tickets", enabled: false },
    { id: "s3", name: "other", connection: "", enabled: true },
  ];
  server.use(
    me("mcp_servers.manage"),
    answered(),
    http.get(`${API}/mcp-servers`, () => HttpResponse.json({ items: servers, next_cursor: null })),
    http.post(`${API}/mcp-servers/:server/refresh`, ({ params }) => {
      refreshed.push(String(params.server));
      return HttpResponse.json({ tools: [{}, {}], added: [], changed: [], removed: [], left_out: [] });
    }),
  );
  window.history.replaceState(null, "", "/settings/connections?state=abc&code=def");
  renderStudio(<Answer />);
  expect(await screen.findByText("tickets listed tickets: 2")).toBeVisible();
  expect(refreshed).toEqual(["s1"]);
  expect(window.location.search).toBe("");
});
