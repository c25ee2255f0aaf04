import { Suspense } from "react";
import { part } from "@/lib/part";

const ProviderDialog = part(() =>
  import("@/components/providers").then(({ ProviderDialog: Dialog }) => ({ default: Dialog })),
);

/** Connects a provider without leaving the flow; the assistant knows of it at once. */
export function ConnectDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  if (!open) return null;
  return (
    <Suspense fallback={null}>
      <ProviderDialog open={open} onOpenChange={onOpenChange} />
    </Suspense>
  );
}
