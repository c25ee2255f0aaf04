import { useQuery } from "@tanstack/react-query";
import { type ApiDocument, acceptOperations, apiQuery, describeApi, removeApi } from "@/api/queries/apis";
import { type Connection, connectionKeys, connectionUsesQuery } from "@/api/queries/connections";
import { Button, Callout, Dialog, Problem, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { DocumentForm } from "./DocumentForm";
import { OperationList } from "./OperationList";
import { useConnectionTexts } from "./texts";

interface ApiDialogProps {
  connection: Connection;
  manage: boolean;
  onClose: () => void;
}

/** The description of a connection's API: read, replaced, accepted, removed; and its operations. */
export function ApiDialog({ connection, manage, onClose }: ApiDialogProps) {
  const t = useConnectionTexts();
  const described = useQuery(apiQuery(connection.id));
  const touches = [connectionKeys.all];
  const describe = useChange({ change: (body: ApiDocument) => describeApi(connection.id, body), touches });
  const remove = useChange({ change: () => removeApi(connection.id), touches, failed: t("api_failed") });
  const accept = useChange({
    change: (sha256: string) => acceptOperations(connection.id, sha256),
    touches,
    failed: t("api_failed"),
  });
  const uses = useQuery(connectionUsesQuery(connection.id));
  const affected = (uses.data ?? []).filter((use) => (use.affected ?? []).length > 0);
  const one = described.isError ? undefined : described.data;
  return (
    <Dialog
      open
      size="lg"
      onOpenChange={(open) => !open && onClose()}
      title={t("api_of", { name: connection.name })}
      description={t("api_about")}
      footer={<Button onClick={onClose}>{t("close")}</Button>}
    >
      <div className="flex flex-col gap-4">
        {described.isPending && <Skeleton className="h-40" />}
        {one && (
          <>
            <p className="text-sm">
              {one.title} {one.version} · {one.format} · {t("operation_count", { count: one.operations })}
            </p>
            {one.changed > 0 && (
              <Callout tone="warn">
                {t("operations_changed", { count: one.changed })}
                {manage && (
                  <Button size="sm" busy={accept.isPending} onClick={() => accept.mutate(one.sha256)}>
                    {t("accept")}
                  </Button>
                )}
              </Callout>
            )}
            {affected.length > 0 && (
              <Callout tone="warn">
                {t("affected_flows")}
                <ul className="list-disc pl-5">
                  {affected.map((use) => (
                    <li key={use.flow_id}>
                      {use.flow}: <span className="font-mono text-xs">{use.affected?.join(", ")}</span>
                    </li>
                  ))}
                </ul>
              </Callout>
            )}
            {one.skipped_count > 0 && (
              <details className="text-muted text-sm">
                <summary>{t("operations_skipped", { count: one.skipped_count })}</summary>
                <ul className="list-disc pl-5">
                  {one.skipped.map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
              </details>
            )}
            <OperationList connection={connection.id} />
          </>
        )}
        {manage && !described.isPending && (
          <>
            {describe.isError && <Problem error={describe.error} />}
            <DocumentForm
              key={one?.sha256 ?? ""}
              action={one ? t("api_replace") : t("api_read")}
              busy={describe.isPending}
              onSubmit={describe.mutate}
            />
            {one && (
              <Button kind="ghost" className="self-start" busy={remove.isPending} onClick={() => remove.mutate()}>
                {t("api_remove")}
              </Button>
            )}
          </>
        )}
      </div>
    </Dialog>
  );
}
