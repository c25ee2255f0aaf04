import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { modelClassesQuery, modelKeys } from "@/api/queries/models";
import { providersQuery } from "@/api/queries/providers";
import { useRights } from "@/api/rights";
import { Button, Callout, ClassChip, IconButton, Input, Row, Rows, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

interface Classed {
  provider: string;
  name: string;
  level: number;
}

/** Which class of data each model may be given, at most. */
export function ModelClasses() {
  const t = useSettingsTexts();
  const { may } = useRights();
  const classes = useQuery(modelClassesQuery).data;
  const put = useChange({
    change: ({ provider, name, level }: Classed) =>
      unwrap(
        api.PUT("/api/v1/model-classes/{provider}/{name}", { params: { path: { provider, name } }, body: { level } }),
      ),
    touches: [modelKeys.classes],
    failed: t("class_failed"),
  });
  const remove = useChange({
    change: ({ provider, name }: Classed) =>
      unwrap(api.DELETE("/api/v1/model-classes/{provider}/{name}", { params: { path: { provider, name } } })),
    touches: [modelKeys.classes],
    failed: t("class_failed"),
  });
  if (!classes) return null;
  const manage = may("models.classify");
  const levels = classes.levels.map((name, level) => ({ value: String(level), label: name }));
  return (
    <Part title={t("classes")} about={t("classes_about", { level: classes.levels[classes.default_level] ?? "" })}>
      {!classes.enabled && <Callout>{t("classes_off")}</Callout>}
      {classes.items.length > 0 && (
        <Rows label={t("classes")}>
          {classes.items.map((one) => (
            <Row
              key={`${one.provider}/${one.name}`}
              icon={<ClassChip level={one.level} />}
              title={
                <span className="font-mono text-sm">
                  {one.name === "*" ? t("others_of", { provider: one.provider }) : `${one.provider}/${one.name}`}
                </span>
              }
              aside={
                manage ? (
                  <>
                    <Select
                      aria-label={t("class_of", { name: `${one.provider}/${one.name}` })}
                      className="w-40"
                      value={String(one.level)}
                      options={levels}
                      onChange={(level) => put.mutate({ ...one, level: Number(level) })}
                    />
                    <IconButton size="sm" label={t("remove")} onClick={() => remove.mutate(one)}>
                      <Trash2 />
                    </IconButton>
                  </>
                ) : (
                  one.class_name
                )
              }
            />
          ))}
        </Rows>
      )}
      {manage && <NewClass levels={levels} busy={put.isPending} onAdd={(wanted) => put.mutate(wanted)} />}
    </Part>
  );
}

interface NewClassProps {
  levels: { value: string; label: string }[];
  busy: boolean;
  onAdd: (wanted: Classed) => void;
}

function NewClass({ levels, busy, onAdd }: NewClassProps) {
  const t = useSettingsTexts();
  const providers = useQuery(providersQuery).data ?? [];
  const [provider, setProvider] = useState<string>();
  const [name, setName] = useState("");
  const [level, setLevel] = useState<string>();
  const ready = provider && level;
  return (
    <form
      aria-label={t("add_class")}
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!ready) return;
        onAdd({ provider, name: name.trim() || "*", level: Number(level) });
        setName("");
      }}
    >
      <Select
        aria-label={t("provider")}
        placeholder={t("provider")}
        className="w-44"
        value={provider}
        options={providers.map(({ id, label }) => ({ value: id, label }))}
        onChange={setProvider}
      />
      <Input
        aria-label={t("model_name")}
        placeholder={t("all_models")}
        className="w-48!"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Select
        aria-label={t("class")}
        placeholder={t("class")}
        className="w-40"
        value={level}
        options={levels}
        onChange={setLevel}
      />
      <Button type="submit" disabled={!ready} busy={busy}>
        {t("add_class")}
      </Button>
    </form>
  );
}
