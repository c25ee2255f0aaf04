import { useState } from "react";
import { setVariable, variableKeys } from "@/api/queries/variables";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input, Select, Switch, Textarea } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";
import { ORGANISATION, type Owner, spaceOf } from "./owners";

interface VariableDialogProps {
  /** Empty for a new one. */
  name: string;
  /** Its owner, or who owns a new one at first. */
  owner: string;
  owners: readonly Owner[];
  onClose: () => void;
}

/** Sets a variable, or replaces the value of one. */
export function VariableDialog({ name: kept, owner: first, owners, onClose }: VariableDialogProps) {
  const t = useSettingsTexts();
  const [name, setName] = useState(kept);
  const [owner, setOwner] = useState(first);
  const [value, setValue] = useState("");
  const [secret, setSecret] = useState(true);
  const [hosts, setHosts] = useState("");
  const save = useChange({
    change: () =>
      setVariable(spaceOf(owner), name.trim(), { value, secret, hosts: hosts.split(/[\s,]+/).filter(Boolean) }),
    touches: [variableKeys.all, ["providers"]],
    done: t("variable_kept", { name: name.trim() }),
  });
  const submit = () => save.mutate(undefined, { onSuccess: onClose });
  const ready = name.trim() !== "" && value !== "";
  return (
    <FormDialog
      title={kept ? t("replace_what", { what: kept }) : t("add_variable")}
      description={t("write_only")}
      action={t("save")}
      ready={ready}
      busy={save.isPending}
      error={save.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("name")} help={t("variable_name_help")} required>
        {(control) => (
          <Input
            {...control}
            disabled={kept !== ""}
            className="font-mono"
            spellCheck={false}
            value={name}
            placeholder="TEAM_API_KEY"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field label={t("variable_for")} help={t(owner === ORGANISATION ? "for_organisation_help" : "for_space_help")}>
        {(control) => (
          <Select
            {...control}
            disabled={kept !== ""}
            value={owner}
            options={owners.map(({ id, label }) => ({ value: id, label }))}
            onChange={setOwner}
          />
        )}
      </Field>
      <Field label={t("value")} required>
        {(control) =>
          secret ? (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          ) : (
            <Textarea {...control} value={value} onChange={(event) => setValue(event.target.value)} />
          )
        }
      </Field>
      <Field label={t("is_secret")} help={t("is_secret_help")}>
        {(control) => <Switch {...control} checked={secret} onChange={setSecret} />}
      </Field>
      <Field label={t("hosts")} help={t("hosts_help")}>
        {(control) => (
          <Input
            {...control}
            value={hosts}
            placeholder="api.example.org"
            onChange={(event) => setHosts(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
