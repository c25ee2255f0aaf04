import { type ComponentProps, Suspense } from "react";
import { part } from "@/lib/part";
import type { BrowseStorage as Browse } from "./BrowseStorage";

const Button = part(async () => ({ default: (await import("./BrowseStorage")).BrowseStorage }));

/** Fetched when it is shown: most people who open a flow browse no storage. */
export function BrowseStorage(props: ComponentProps<typeof Browse>) {
  return (
    <Suspense>
      <Button {...props} />
    </Suspense>
  );
}
