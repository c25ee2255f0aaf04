import { Outlet, useRouterState } from "@tanstack/react-router";
import { Suspense, useEffect, useRef } from "react";
import { Skeleton } from "@/components/ui";
import { usePalette } from "@/lib/commands/commands";
import { part } from "@/lib/part";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { useTitle } from "@/lib/title";
import { useAppTexts } from "../texts";
import { LoadingBar } from "./LoadingBar";
import { OfflineNotice } from "./OfflineNotice";
import { Sidebar } from "./Sidebar";
import { useGeneralCommands } from "./useGeneralCommands";

const CommandPalette = part(() => import("../palette/CommandPalette"));
const ShortcutSheet = part(() => import("../palette/ShortcutSheet"));

/** What is around every page of somebody who is signed in: the way to all places, commands, shortcuts. */
export function Shell() {
  const t = useAppTexts();
  const { setOpen, setSheet } = usePalette.getState();
  const open = usePalette((state) => state.open);
  const sheet = usePalette((state) => state.sheet);
  useGeneralCommands();
  useTitle(usePlaceName());
  const main = useFocusOnArrival();
  useShortcuts({
    commands: () => {
      setOpen(!usePalette.getState().open);
      return true;
    },
    shortcuts: () => {
      setSheet(true);
      return true;
    },
  });
  return (
    <div className="flex h-dvh flex-col-reverse sm:flex-row">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-1.5 focus:text-on-accent"
      >
        {t("skip")}
      </a>
      <LoadingBar />
      <Sidebar />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <OfflineNotice />
        <main id="content" ref={main} tabIndex={-1} className="min-h-0 min-w-0 flex-1 overflow-auto outline-none">
          <Suspense fallback={<Waiting />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        {open && <CommandPalette />}
        {sheet && <ShortcutSheet />}
      </Suspense>
    </div>
  );
}

const PLACES = {
  "": "flows",
  templates: "templates",
  runs: "runs",
  triggers: "triggers",
  inbox: "inbox",
  develop: "development",
  observe: "observe",
  settings: "settings",
} as const;

/** What the place is called; a flow says its own name. */
function usePlaceName(): string {
  const t = useAppTexts();
  const first = useRouterState({ select: ({ location }) => location.pathname.split("/")[1] ?? "" });
  return first in PLACES ? t(PLACES[first as keyof typeof PLACES]) : "";
}

/** Who goes to another place by keyboard goes on from there. Views of one flow are one place. */
function useFocusOnArrival() {
  const main = useRef<HTMLElement>(null);
  const place = useRouterState({ select: ({ location }) => location.pathname.split("/").slice(0, 3).join("/") });
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    const active = document.activeElement;
    // A page that put the focus into a field of its own knows better.
    if (!main.current?.contains(active)) main.current?.focus({ preventScroll: true });
  }, [place]);
  return main;
}

function Waiting() {
  const t = useAppTexts();
  return (
    <div role="status" aria-label={t("loading")} className="flex flex-col gap-4 p-6">
      <Skeleton className="h-8 w-56" />
      <Skeleton className="h-40 w-full max-w-3xl" />
    </div>
  );
}
