import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useState } from "react";
import { codevKeys } from "@/api/queries/codev";
import { Button } from "@/components/ui";
import { part } from "@/lib/part";
import { useCodevTexts } from "../texts";

const ProviderDialog = part(async () => ({ default: (await import("@/components/providers")).ProviderDialog }));

interface ConnectProviderProps {
  provider?: string | undefined;
  label?: string;
  kind?: "primary" | "secondary";
  onDone?: () => void;
}

/** Connects a provider of models where one is missed, without leaving the page. */
export function ConnectProvider({ provider, label, kind = "secondary", onDone }: ConnectProviderProps) {
  const t = useCodevTexts();
  const queries = useQueryClient();
  const [open, setOpen] = useState(false);
  const change = (next: boolean) => {
    setOpen(next);
    if (!next) void queries.invalidateQueries({ queryKey: codevKeys.domains });
  };
  return (
    <>
      <Button size="sm" kind={kind} onClick={() => setOpen(true)}>
        {label ?? t("connect_provider")}
      </Button>
      {open && (
        <Suspense>
          <ProviderDialog
            open
            onOpenChange={change}
            {...(onDone ? { onDone } : {})}
            {...(provider ? { provider } : {})}
          />
        </Suspense>
      )}
    </>
  );
}
