import { useQuery } from "@tanstack/react-query";
import { FolderSync } from "lucide-react";
import { useState } from "react";
import { type Directory, directoryKeys, directoryQuery, revokeDirectoryToken } from "@/api/queries/directory";
import { Button, Confirm, CopyButton, EmptyState, Problem, Row, Rows, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago } from "@/lib/i18n/format";
import { Part, Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { Groups } from "./Groups";
import { TokenDialog } from "./TokenDialog";

/** The directory (SCIM) of the organisation: how it connects, and what its groups may do. */
export function DirectorySection() {
  const t = useSettingsTexts();
  const directory = useQuery(directoryQuery);
  const [making, setMaking] = useState(false);
  const found = directory.data;
  const unused = found && !found.token && found.users === 0 && found.groups === 0;
  return (
    <Section title={t("directory")} about={t("directory_about")}>
      {directory.isError && <Problem error={directory.error} retry={() => void directory.refetch()} />}
      {directory.isPending && <Skeleton className="h-40" />}
      {unused && (
        <EmptyState
          icon={<FolderSync />}
          title={t("directory_none")}
          action={
            <Button kind="primary" onClick={() => setMaking(true)}>
              {t("connect_directory")}
            </Button>
          }
        >
          {t("directory_none_more")}
        </EmptyState>
      )}
      {found && !unused && (
        <>
          <Connection directory={found} onMake={() => setMaking(true)} />
          <Groups />
        </>
      )}
      {making && <TokenDialog replaces={Boolean(found?.token)} onClose={() => setMaking(false)} />}
    </Section>
  );
}

function Connection({ directory, onMake }: { directory: Directory; onMake: () => void }) {
  const t = useSettingsTexts();
  const [ending, setEnding] = useState(false);
  const end = useChange({
    change: revokeDirectoryToken,
    touches: [directoryKeys.all],
    failed: t("save_failed"),
  });
  const { token, last_change_at } = directory;
  return (
    <Part title={t("connection")}>
      <Rows label={t("connection")}>
        <Row
          title={t("directory_address")}
          detail={<code className="break-all font-mono text-xs">{directory.address}</code>}
          aside={<CopyButton text={directory.address} label={t("copy_address")} />}
        />
        <Row
          title={
            <>
              {t("directory_token")}
              {token && <code className="font-mono text-xs font-normal text-muted">{token.prefix}…</code>}
            </>
          }
          detail={
            token
              ? [
                  token.networks && t("only_from", { networks: token.networks.join(", ") }),
                  token.last_used_at ? t("last_used", { when: ago(token.last_used_at) }) : t("never_used"),
                ]
                  .filter(Boolean)
                  .join(" · ")
              : t("no_directory_token")
          }
          aside={
            <>
              <Button size="sm" onClick={onMake}>
                {t(token ? "rotate_token" : "create_token")}
              </Button>
              {token && (
                <Button size="sm" kind="danger" onClick={() => setEnding(true)}>
                  {t("disconnect")}
                </Button>
              )}
            </>
          }
        />
        <Row
          title={t("directory_synchronized")}
          detail={[
            t("directory_counts", { users: directory.users, groups: directory.groups }),
            last_change_at ? t("directory_last_change", { when: ago(last_change_at) }) : t("directory_no_change"),
          ].join(" · ")}
        />
      </Rows>
      <Confirm
        open={ending}
        onOpenChange={setEnding}
        title={t("disconnect_directory")}
        action={t("disconnect")}
        busy={end.isPending}
        onConfirm={() => end.mutate(undefined, { onSettled: () => setEnding(false) })}
      >
        {t("disconnect_more")}
      </Confirm>
    </Part>
  );
}
