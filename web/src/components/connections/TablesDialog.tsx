import type { Connection } from "@/api/queries/connections";
import { Button, Dialog } from "@/components/ui";
import { TableList } from "./TableList";
import { useConnectionTexts } from "./texts";

/** The tables of a connection's database. */
export function TablesDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const t = useConnectionTexts();
  return (
    <Dialog
      open
      size="lg"
      onOpenChange={(open) => !open && onClose()}
      title={t("tables_of", { name: connection.name })}
      description={t("tables_about")}
      footer={<Button onClick={onClose}>{t("close")}</Button>}
    >
      <TableList connection={connection.id} />
    </Dialog>
  );
}
