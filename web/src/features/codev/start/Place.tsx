import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { CodevDomain } from "@/api/queries/codev";
import { spacesQuery } from "@/api/queries/spaces";
import { useRights } from "@/api/rights";
import { FlowPicker } from "@/components/flow-picker";
import { Callout, Field, Input, Segments, Select } from "@/components/ui";
import type { StartFault, StartForm } from "../model/startForm";
import { useCodevTexts } from "../texts";

interface PlaceProps {
  form: StartForm;
  domains: CodevDomain[];
  faults: ReadonlySet<StartFault>;
  onChange: (more: Partial<StartForm>) => void;
}

/** Where the flow is or will be: here, or on a Flowise server; a new one or one that is there. */
export function Place({ form, domains, faults, onChange }: PlaceProps) {
  const t = useCodevTexts();
  const { may } = useRights();
  const own = form.domain === "headgate";
  const domain = domains.find(({ name }) => name === form.domain);
  const choose = (name: string) => onChange({ domain: name, instanceId: "", flowId: "", existing: false });
  const first = domain?.instances[0]?.id ?? "";
  // The first server is the one that the agent takes where none is named: it is said, and can be changed.
  useEffect(() => {
    if (form.instanceId === "" && first !== "") onChange({ instanceId: first });
  }, [form.instanceId, first, onChange]);
  return (
    <fieldset className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
      <legend className="sr-only">{t("where")}</legend>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        {domains.length > 1 && (
          <Segments
            aria-label={t("where")}
            value={form.domain}
            options={domains.map(({ name, label }) => ({ value: name, label }))}
            onChange={choose}
          />
        )}
        <Segments
          aria-label={t("which_flow")}
          value={form.existing ? "existing" : "new"}
          options={[
            { value: "new", label: t(own ? "new_flow" : "new_chatflow") },
            { value: "existing", label: t(own ? "existing_flow" : "existing_chatflow") },
          ]}
          onChange={(which) => onChange({ existing: which === "existing" })}
        />
      </div>
      {!own && <Instances form={form} domain={domain} faulty={faults.has("instance")} onChange={onChange} />}
      {own && form.existing && (
        <Field label={t("flow")} error={faults.has("flow") ? t("flow_missing") : null}>
          {(control) => (
            <FlowPicker
              {...control}
              value={form.flowId}
              offer="edit"
              fits={(flow) => may("flows.edit", flow.space_id)}
              onChange={(flowId) => onChange({ flowId })}
            />
          )}
        </Field>
      )}
      {!own && form.existing && (
        <Field
          label={t("chatflow")}
          help={t("chatflow_help")}
          error={faults.has("flow") ? t("chatflow_missing") : null}
        >
          {(control) => (
            <Input
              {...control}
              spellCheck={false}
              className="font-mono text-sm"
              value={form.flowId}
              onChange={(event) => onChange({ flowId: event.target.value })}
            />
          )}
        </Field>
      )}
      {own && !form.existing && <SpaceField form={form} onChange={onChange} />}
    </fieldset>
  );
}

function SpaceField({ form, onChange }: Pick<PlaceProps, "form" | "onChange">) {
  const t = useCodevTexts();
  const { may } = useRights();
  const spaces = (useQuery(spacesQuery).data ?? []).filter(({ id }) => may("flows.edit", id));
  if (spaces.length < 2) return <p className="text-sm text-muted">{t("new_flow_about")}</p>;
  return (
    <Field label={t("space")} help={t("new_flow_about")}>
      {(control) => (
        <Select
          {...control}
          className="sm:max-w-72"
          placeholder={t("own_space")}
          value={form.spaceId || undefined}
          options={spaces.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(spaceId) => onChange({ spaceId })}
        />
      )}
    </Field>
  );
}

interface InstancesProps extends Pick<PlaceProps, "form" | "onChange"> {
  domain: CodevDomain | undefined;
  faulty: boolean;
}

function Instances({ form, domain, faulty, onChange }: InstancesProps) {
  const t = useCodevTexts();
  const instances = domain?.instances ?? [];
  const toSettings = (
    <Link
      to="/settings/{-$section}"
      params={{ section: "flowise" }}
      className="shrink-0 font-medium text-accent hover:underline"
    >
      {t("add_instance")}
    </Link>
  );
  if (instances.length === 0) {
    return (
      <Callout tone={faulty ? "bad" : "info"} title={t("no_instance")} action={toSettings}>
        {t("no_instance_more")}
      </Callout>
    );
  }
  return (
    <Field label={t("instance")} error={faulty ? t("instance_missing") : null}>
      {(control) => (
        <Select
          {...control}
          className="sm:max-w-96"
          placeholder={t("choose_instance")}
          value={form.instanceId || undefined}
          options={instances.map(({ id, endpoint }) => ({
            value: id,
            label: endpoint ? `${id} (${endpoint})` : id,
          }))}
          onChange={(instanceId) => onChange({ instanceId })}
        />
      )}
    </Field>
  );
}
