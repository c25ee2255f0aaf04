import { useQuery } from "@tanstack/react-query";
import { Bot, Ellipsis, Plus } from "lucide-react";
import { useState } from "react";
import { changePerson, createService, type Person, peopleKeys, servicesQuery } from "@/api/queries/people";
import { FormDialog } from "@/components/FormDialog";
import { Button, Chip, Field, IconButton, Input, Listing, Menu, Row, Switch } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";
import { DeletePerson } from "./DeletePerson";
import { ServiceKeys } from "./ServiceKeys";

type Opened = { what: "name" | "keys" | "delete"; account: Person };

/** Accounts of programs and triggers, for admins: they have roles and API keys, and never sign in. */
export function ServiceAccounts() {
  const t = useSettingsTexts();
  const accounts = useQuery(servicesQuery);
  const [opened, setOpened] = useState<Opened | "new">();
  const change = useChange({
    change: ({ id, ...patch }: { id: string; active?: boolean; role?: Person["role"] }) => changePerson(id, patch),
    touches: [peopleKeys.all],
    failed: t("save_failed"),
  });
  const close = () => setOpened(undefined);
  const items = (account: Person) => [
    { id: "keys", label: t("keys"), onSelect: () => setOpened({ what: "keys", account }) },
    { id: "name", label: t("rename"), onSelect: () => setOpened({ what: "name", account }) },
    {
      id: "role",
      label: t(account.role === "admin" ? "make_member" : "make_admin"),
      onSelect: () => change.mutate({ id: account.id, role: account.role === "admin" ? "member" : "admin" }),
    },
    { kind: "line" as const, id: "line" },
    {
      id: "active",
      label: t(account.active ? "shut_them_out" : "let_them_in"),
      danger: account.active,
      onSelect: () => change.mutate({ id: account.id, active: !account.active }),
    },
    { id: "delete", label: t("delete_service"), danger: true, onSelect: () => setOpened({ what: "delete", account }) },
  ];
  return (
    <Part
      title={t("services")}
      about={t("services_about")}
      action={
        <Button icon={<Plus />} onClick={() => setOpened("new")}>
          {t("new_service")}
        </Button>
      }
    >
      <Listing
        label={t("services")}
        query={accounts}
        empty={<p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("no_services")}</p>}
      >
        {(account) => (
          <Row
            key={account.id}
            icon={<Bot />}
            muted={!account.active}
            title={
              <>
                {account.name}
                {account.role === "admin" && <Chip tone="accent">{t("admin")}</Chip>}
                {!account.active && <Chip tone="warn">{t("shut_out")}</Chip>}
              </>
            }
            aside={
              <Menu items={items(account)}>
                <IconButton size="sm" label={t("more_for", { who: account.name })}>
                  <Ellipsis />
                </IconButton>
              </Menu>
            }
          />
        )}
      </Listing>
      {opened === "new" && <ServiceDialog onClose={close} />}
      {opened !== "new" && opened?.what === "name" && <ServiceDialog account={opened.account} onClose={close} />}
      {opened !== "new" && opened?.what === "keys" && <ServiceKeys account={opened.account} onClose={close} />}
      {opened !== "new" && opened?.what === "delete" && <DeletePerson person={opened.account} onClose={close} />}
    </Part>
  );
}

/** Creates a service account, or renames one. */
function ServiceDialog({ account, onClose }: { account?: Person; onClose: () => void }) {
  const t = useSettingsTexts();
  const [name, setName] = useState(account?.name ?? "");
  const [admin, setAdmin] = useState(false);
  const save = useChange({
    change: () =>
      account
        ? changePerson(account.id, { name: name.trim() })
        : createService({ name: name.trim(), role: admin ? "admin" : "member" }),
    touches: [peopleKeys.all],
  });
  return (
    <FormDialog
      title={account ? t("rename_what", { what: account.name }) : t("new_service")}
      {...(account ? {} : { description: t("new_service_more") })}
      action={account ? t("save") : t("new_service")}
      ready={name.trim() !== "" && name.trim() !== account?.name}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label={t("name")} help={t("service_name_help")} required>
        {(control) => (
          <Input
            {...control}
            value={name}
            placeholder="nightly-import"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      {!account && (
        <Field label={t("is_admin")} help={t("service_admin_help")}>
          {(control) => <Switch {...control} checked={admin} onChange={setAdmin} />}
        </Field>
      )}
    </FormDialog>
  );
}
