import { useMutation, useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Server, Trash2 } from "lucide-react";
import { useState } from "react";
import { type ModelServer, modelServersQuery, removeServer, testServer } from "@/api/queries/modelSetup";
import { useRights } from "@/api/rights";
import { Tested } from "@/components/modelSetup";
import { MODELS_TOUCHED } from "@/components/providers";
import { Button, Chip, Confirm, IconButton, Listing, Row, toastError } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { ServerDialog } from "./ServerDialog";

/** Model servers by name: add, edit, test, remove. */
export function ServersPart() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const manage = may("variables.manage");
  const servers = useQuery({ ...modelServersQuery, select: ({ items }) => items });
  const [adding, setAdding] = useState(false);
  const [editing, setEditing] = useState<ModelServer | null>(null);
  const [removing, setRemoving] = useState<ModelServer | null>(null);
  const remove = useChange({ change: removeServer, touches: MODELS_TOUCHED, failed: t("delete_failed") });
  return (
    <Part
      title={t("model_servers")}
      about={t("model_servers_about")}
      action={
        manage && (
          <Button icon={<Plus />} onClick={() => setAdding(true)}>
            {t("add_model_server")}
          </Button>
        )
      }
    >
      <Listing
        label={t("model_servers")}
        query={servers}
        empty={
          <p className="rounded-lg border border-line border-dashed px-4 py-3 text-muted">{t("model_servers_none")}</p>
        }
      >
        {(one) => (
          <ServerRow
            key={`${one.space_id}/${one.name}`}
            server={one}
            manage={manage}
            onEdit={() => setEditing(one)}
            onRemove={() => setRemoving(one)}
          />
        )}
      </Listing>
      {adding && <ServerDialog onClose={() => setAdding(false)} />}
      {editing && <ServerDialog changed={editing} onClose={() => setEditing(null)} />}
      <Confirm
        open={removing !== null}
        onOpenChange={(open) => !open && setRemoving(null)}
        title={t("delete_what", { what: removing?.name ?? "" })}
        action={t("delete")}
        onConfirm={() => {
          if (removing) remove.mutate(removing);
          setRemoving(null);
        }}
      >
        {t("model_server_gone")}
      </Confirm>
    </Part>
  );
}

interface ServerRowProps {
  server: ModelServer;
  manage: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

function ServerRow({ server, manage, onEdit, onRemove }: ServerRowProps) {
  const t = useSettingsTexts();
  const test = useMutation({
    mutationFn: () => testServer(server.name),
    onError: (error) => toastError(t("test_failed"), error),
  });
  return (
    <Row
      icon={<Server aria-hidden />}
      title={
        <>
          {server.name}
          <Chip>{server.kind === "ollama" ? "Ollama" : t("of_openai")}</Chip>
        </>
      }
      detail={
        <>
          <span className="font-mono text-xs">{server.address}</span>
          {server.secret_names.length > 0 && <span> · {t("sends", { names: server.secret_names.join(", ") })}</span>}
        </>
      }
      aside={
        manage && (
          <>
            <Button size="sm" busy={test.isPending} onClick={() => test.mutate()}>
              {t("test")}
            </Button>
            <IconButton size="sm" label={t("edit_what", { what: server.name })} onClick={onEdit}>
              <Pencil />
            </IconButton>
            <IconButton size="sm" label={t("delete_what", { what: server.name })} onClick={onRemove}>
              <Trash2 />
            </IconButton>
          </>
        )
      }
    >
      {test.data && (
        <div className="mt-2">
          <Tested name={server.name} outcome={test.data} />
        </div>
      )}
    </Row>
  );
}
