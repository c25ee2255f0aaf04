import { useQuery } from "@tanstack/react-query";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { describeApi } from "@/api/queries/apis";
import {
  type Connection,
  type ConnectionKind,
  changeConnection,
  connectionKeys,
  connectionKindsQuery,
  createConnection,
} from "@/api/queries/connections";
import { useRights } from "@/api/rights";
import { Button, Dialog, Problem, Skeleton } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { type Described, FromDescription } from "./FromDescription";
import { KindForm } from "./KindForm";
import { KindGallery } from "./KindGallery";
import { begin, endOf, fieldsOf, isComplete, mostOf, secretsOf } from "./kindValues";
import { useConnectionTexts } from "./texts";
import { useAuthorize } from "./useAuthorize";

interface ConnectionDialogProps {
  spaceId: string;
  /** What is changed; a new one without it. */
  connection?: Connection;
  /** Kinds to choose from; empty: all. */
  kinds?: readonly string[];
  name?: string;
  onClose: () => void;
  onMade?: (connection: Connection) => void;
}

/** Adds a connection: first its kind, then its fields; or changes one. */
export function ConnectionDialog(props: ConnectionDialogProps) {
  const t = useConnectionTexts();
  const kinds = useQuery(connectionKindsQuery);
  const offered = (kinds.data ?? []).filter((kind) => !props.kinds?.length || props.kinds.includes(kind.id));
  const [chosen, choose] = useState<string | undefined>(props.connection?.kind);
  const only = offered.length === 1 ? offered[0] : undefined;
  const [described, setDescribed] = useState<Described>();
  const kind = offered.find(({ id }) => id === chosen) ?? (props.connection ? undefined : only);
  if (kind) {
    return (
      <FormDialog
        {...props}
        key={kind.id}
        kind={kind}
        {...(described ? { described } : {})}
        {...(only || props.connection ? {} : { onBack: () => choose(undefined) })}
      />
    );
  }
  return (
    <Dialog
      open
      size="lg"
      onOpenChange={(open) => !open && props.onClose()}
      title={t("new")}
      description={t("new_about")}
      footer={<Button onClick={props.onClose}>{t("cancel")}</Button>}
    >
      {kinds.isError && <Problem error={kinds.error} />}
      {kinds.isPending && <Skeleton className="h-60" />}
      {kinds.isSuccess && offered.some((one) => one.id === "public_api") && (
        <FromDescription
          onRead={(read) => {
            setDescribed(read);
            choose(read.kind);
          }}
        />
      )}
      {kinds.isSuccess && (
        <KindGallery
          kinds={offered}
          onChoose={(one) => {
            setDescribed(undefined);
            choose(one.id);
          }}
        />
      )}
    </Dialog>
  );
}

interface FormDialogProps extends ConnectionDialogProps {
  kind: ConnectionKind;
  /** The description of the API that the new connection gets. */
  described?: Described;
  onBack?: () => void;
}

function FormDialog({ spaceId, connection, kind, described, name = "", onClose, onMade, onBack }: FormDialogProps) {
  const t = useConnectionTexts();
  const { may } = useRights();
  const mayShare = may("connections.manage", spaceId);
  const [entered, enter] = useState(() => {
    const first = begin(kind, connection);
    if (connection) return first;
    return { ...first, fields: { ...first.fields, ...described?.fields }, name, personal: !mayShare };
  });
  const authorize = useAuthorize();
  const signsIn = kind.grant === "authorization_code" || kind.grant === "device_code";
  const save = useChange({
    change: async () => {
      const common = {
        fields: fieldsOf(kind, entered),
        secrets: secretsOf(entered),
        expires_at: endOf(entered.expires),
        max_concurrent: mostOf(entered.most) ?? null,
      };
      if (connection) return changeConnection(connection.id, { ...common, name: entered.name });
      const owner = { personal: entered.personal && kind.ownership === "any", space_id: spaceId };
      const made = await createConnection({ name: entered.name, kind: kind.id, ...common, ...owner });
      if (described) await describeApi(made.id, described.document);
      return made;
    },
    touches: [connectionKeys.all],
  });
  const stored = connection?.secret_names ?? [];
  const ready = isComplete(kind, entered, stored);
  const submit = () =>
    save.mutate(undefined, {
      onSuccess: (made) => {
        onMade?.(made);
        if (!connection && signsIn) authorize.start(made);
        else onClose();
      },
    });
  if (authorize.dialog) return authorize.dialog(onClose);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={connection ? t("change_what", { what: connection.name }) : kind.label}
      description={connection ? t("secrets_about") : `${kind.description} ${t("secrets_about")}`}
      footer={
        <>
          {onBack && (
            <Button kind="ghost" icon={<ArrowLeft />} className="mr-auto" onClick={onBack}>
              {t("back")}
            </Button>
          )}
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!ready} busy={save.isPending || authorize.isBusy} onClick={submit}>
            {connection ? t("save") : signsIn ? t("add_authorize") : t("add")}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) submit();
        }}
      >
        <KindForm
          kind={kind}
          entered={entered}
          stored={stored}
          isNew={!connection}
          mayShare={mayShare}
          onChange={enter}
        />
        <button type="submit" hidden />
        {save.isError && <Problem error={save.error} />}
        {authorize.error !== null && <Problem error={authorize.error} />}
      </form>
    </Dialog>
  );
}
