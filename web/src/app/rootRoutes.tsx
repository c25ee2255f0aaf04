import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet } from "@tanstack/react-router";
import { meQuery } from "@/api/queries/me";
import { setStoragePerson } from "@/lib/storage";
import { unlessLeaving } from "./leaving";
import { Crashed } from "./shell/Crashed";
import { NotFound } from "./shell/NotFound";
import { Shell } from "./shell/Shell";

interface Context {
  queryClient: QueryClient;
}

export const root = createRootRouteWithContext<Context>()({
  component: Outlet,
  errorComponent: Crashed,
  notFoundComponent: NotFound,
});

/** Pages of somebody who is signed in; auto-login is being signed in too. */
export const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Shell,
  // Beside what the page itself needs rather than before it: nothing below is drawn until this has come.
  loader: async ({ context }) => {
    const me = await context.queryClient.ensureQueryData(meQuery).catch(unlessLeaving);
    setStoragePerson(me.signed_in_by === "auto_login" ? "" : me.user.id);
  },
});
