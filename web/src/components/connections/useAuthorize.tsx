import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { authorizeConnection, type Connection, connectionKeys, pollAuthorization } from "@/api/queries/connections";
import type { components } from "@/api/schema";
import { Button, CopyButton, Dialog, Problem } from "@/components/ui";
import { useConnectionTexts } from "./texts";

type Started = components["schemas"]["AuthorizationOut"];

interface Authorize {
  start: (connection: Connection) => void;
  isBusy: boolean;
  error: Error | null;
  /** Shows the code that the user enters at the provider, while there is one. */
  dialog: ((onClose: () => void) => ReactNode) | null;
}

/** Authorizes a connection: leaves for the provider's page, or shows the code to enter there. */
export function useAuthorize(): Authorize {
  const queries = useQueryClient();
  const [device, setDevice] = useState<{ connection: Connection; started: Started } | null>(null);
  const begin = useMutation({
    mutationFn: (connection: Connection) => authorizeConnection(connection.id),
    onSuccess: (started, connection) => {
      if (started.state === "redirect" && started.url) window.location.assign(started.url);
      else if (started.state === "device") setDevice({ connection, started });
      void queries.invalidateQueries({ queryKey: connectionKeys.all });
    },
  });
  const shown = device;
  return {
    start: begin.mutate,
    isBusy: begin.isPending,
    error: begin.error,
    dialog: shown
      ? (onClose) => (
          <DeviceCode
            {...shown}
            onClose={() => {
              setDevice(null);
              onClose();
            }}
          />
        )
      : null,
  };
}

interface DeviceCodeProps {
  connection: Connection;
  started: Started;
  onClose: () => void;
}

function DeviceCode({ connection, started, onClose }: DeviceCodeProps) {
  const t = useConnectionTexts();
  const queries = useQueryClient();
  const poll = useQuery({
    queryKey: ["connection-authorization", started.authorization],
    queryFn: () => pollAuthorization(connection.id, started.authorization ?? ""),
    refetchInterval: ({ state }) =>
      state.error || state.data?.state === "ready"
        ? false
        : ((started.interval ?? 5) + (state.data?.slower ? 5 : 0)) * 1000,
    retry: false,
  });
  const isDone = poll.data?.state === "ready";
  useEffect(() => {
    if (!isDone) return;
    void queries.invalidateQueries({ queryKey: connectionKeys.all });
    onClose();
  }, [isDone, onClose, queries]);
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={(open) => !open && onClose()}
      title={t("device_title")}
      description={t("device_about")}
      footer={<Button onClick={onClose}>{t("close")}</Button>}
    >
      <div className="flex flex-col items-center gap-4 py-2">
        <div className="flex items-center gap-2">
          <code className="font-mono text-2xl font-semibold tracking-widest">{started.user_code}</code>
          <CopyButton text={started.user_code ?? ""} />
        </div>
        {started.url && (
          <a
            className="inline-flex items-center gap-1.5 font-medium text-accent underline"
            href={started.url}
            target="_blank"
            rel="noreferrer noopener"
          >
            <ExternalLink aria-hidden className="size-4" />
            {t("device_open")}
          </a>
        )}
        {poll.isError && <Problem error={poll.error} />}
      </div>
    </Dialog>
  );
}
