import { Outlet } from "@tanstack/react-router";
import { Suspense } from "react";
import { usePalette } from "@/lib/commands/commands";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { useAppTexts } from "../texts";
import { Sidebar } from "./Sidebar";

/** What is around every page of somebody who is signed in: the way to all places, commands, shortcuts. */
export function Shell() {
  const t = useAppTexts();
  const { setOpen, setSheet } = usePalette.getState();
  useShortcuts({
    commands: () => {
      setOpen(true);
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
      <Sidebar />
      <main id="content" tabIndex={-1} className="min-h-0 min-w-0 flex-1 overflow-auto outline-none">
        <Suspense>
          <Outlet />
        </Suspense>
      </main>
    </div>
  );
}
