import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { setVariable, usedIn, variableKeys, variablesQuery } from "@/api/queries/variables";
import { Button, Dialog, Field, Input, Problem, Select, Textarea, toast } from "@/components/ui";
import { isSecretReference, secretReference } from "@/lib/secretReference";
import { useFieldTexts } from "./texts";
import type { ControlIds, ControlProps } from "./types";
import { useVariableSpace } from "./variableSpace";

const NONE = " ";

/** A reference to a secret. Its value is never here, and never comes back. */
export function SecretControl({ value, onChange, label, nodeId: _, field, ...ids }: ControlProps) {
  return (
    <SecretSelect
      {...ids}
      label={label}
      name={isSecretReference(value) ? value.secret : ""}
      required={field.required === true}
      onChange={(name) => onChange(name === "" ? undefined : secretReference(name))}
    />
  );
}

interface SecretSelectProps extends ControlIds {
  label: string;
  /** Empty while none is chosen. */
  name: string;
  required: boolean;
  /** What stands for no secret. */
  none?: string;
  onChange: (name: string) => void;
}

/** Choose one of the stored secrets, or store a new one. */
export function SecretSelect({ name: now, onChange, label, required, none, ...ids }: SecretSelectProps) {
  const t = useFieldTexts();
  const spaceId = useVariableSpace();
  const variables = useQuery({ ...variablesQuery, select: (all) => usedIn(spaceId, all) });
  const [making, setMaking] = useState<string | null>(null);
  const used = new Map((variables.data ?? []).map((one) => [one.name, one]));
  const missing = now !== "" && variables.isSuccess && !used.has(now);
  const options = [
    ...(required ? [] : [{ value: NONE, label: none ?? t("secret_none") }]),
    ...[...new Set([...(now ? [now] : []), ...used.keys()])].map((name) => ({
      value: name,
      label: used.get(name)?.space_id === null ? t("secret_shared", { name }) : name,
      icon: <KeyRound aria-hidden className="size-3.5 text-faint" />,
    })),
  ];
  return (
    <div className="flex flex-col gap-1">
      <div className="flex gap-1.5">
        <Select
          {...ids}
          {...(ids.id ? {} : { "aria-label": label })}
          value={now || (required ? undefined : NONE)}
          placeholder={t("secret_choose")}
          options={options}
          onChange={(next) => onChange(next === NONE ? "" : next)}
        />
        <Button icon={<Plus />} onClick={() => setMaking("")}>
          {t("secret_new")}
        </Button>
      </div>
      {missing && (
        <p className="text-warn text-xs">
          {t("secret_missing", { name: now })}{" "}
          <button type="button" className="font-medium underline" onClick={() => setMaking(now)}>
            {t("secret_create")}
          </button>
        </p>
      )}
      {making !== null && (
        <NewVariable name={making} spaceId={spaceId} onClose={() => setMaking(null)} onMade={onChange} />
      )}
    </div>
  );
}

interface NewVariableProps {
  name: string;
  /** The space whose flows may use it. */
  spaceId: string;
  onClose: () => void;
  onMade: (name: string) => void;
}

/** Keep a secret where it is first needed. */
function NewVariable({ name: wanted, spaceId, onClose, onMade }: NewVariableProps) {
  const t = useFieldTexts();
  const queries = useQueryClient();
  const [name, setName] = useState(wanted);
  const [value, setValue] = useState("");
  const [hosts, setHosts] = useState("");
  const keep = useMutation({
    mutationFn: () =>
      setVariable(spaceId, name, { value, secret: true, hosts: hosts.split(/\s+/).filter((host) => host !== "") }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: variableKeys.all });
      toast({ title: t("saved_variable", { name }), tone: "ok" });
      onMade(name);
      onClose();
    },
  });
  const fits = /^[A-Z_][A-Z0-9_]{0,127}$/.test(name);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="sm"
      title={t("secret_title")}
      description={t("secret_about")}
      footer={
        <Button kind="primary" busy={keep.isPending} disabled={!fits || value === ""} onClick={() => keep.mutate()}>
          {t("secret_save")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        <Field
          label={t("secret_name")}
          help={t("secret_name_help")}
          error={name !== "" && !fits ? t("secret_name_wrong") : null}
          required
        >
          {(control) => (
            <Input
              {...control}
              value={name}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setName(event.target.value.toUpperCase().replaceAll(/[\s-]/g, "_"))}
            />
          )}
        </Field>
        <Field label={t("secret_value")} required>
          {(control) => (
            <Input
              {...control}
              type="password"
              value={value}
              autoComplete="new-password"
              onChange={(event) => setValue(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("secret_hosts")} help={t("secret_hosts_help")}>
          {(control) => (
            <Textarea {...control} rows={2} value={hosts} onChange={(event) => setHosts(event.target.value)} />
          )}
        </Field>
        {keep.isError && <Problem error={keep.error} />}
      </div>
    </Dialog>
  );
}
