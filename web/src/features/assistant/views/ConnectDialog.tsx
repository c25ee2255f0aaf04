import { useQueryClient } from "@tanstack/react-query";
import { Suspense } from "react";
import { assistantKeys } from "@/api/queries/assistant";
import { part } from "@/lib/part";

const ProviderDialog = part(() =>
  import("@/components/providers").then(({ ProviderDialog: Dialog }) => ({ default: Dialog })),
);

/** Connects a provider without leaving the flow; the assistant knows of it at once. */
export function ConnectDialog({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const queries = useQueryClient();
  if (!open) return null;
  const change = (next: boolean) => {
    onOpenChange(next);
    if (!next) void queries.invalidateQueries({ queryKey: assistantKeys.config });
  };
  return (
    <Suspense fallback={null}>
      <ProviderDialog open={open} onOpenChange={change} />
    </Suspense>
  );
}
