import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { apiKeysQuery } from "@/api/queries/apiKeys";
import type { Person } from "@/api/queries/people";
import { Button, Dialog } from "@/components/ui";
import { KeyDialog } from "../keys/KeyDialog";
import { KeyList } from "../keys/KeyList";
import { useSettingsTexts } from "../texts";

/** The API keys of a service account, for admins. */
export function ServiceKeys({ account, onClose }: { account: Person; onClose: () => void }) {
  const t = useSettingsTexts();
  const keys = useQuery(apiKeysQuery(account.id));
  const [making, setMaking] = useState(false);
  if (making) return <KeyDialog account={account.id} onClose={() => setMaking(false)} />;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("keys_of", { who: account.name })}
      footer={
        <>
          <Button onClick={onClose}>{t("close")}</Button>
          <Button kind="primary" icon={<Plus />} disabled={!account.active} onClick={() => setMaking(true)}>
            {t("make_key")}
          </Button>
        </>
      }
    >
      <KeyList query={keys} empty={<p className="text-muted">{t("no_service_keys")}</p>} />
    </Dialog>
  );
}
