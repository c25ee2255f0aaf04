import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Command } from "cmdk";
import { Check, Eye, Mic, PlugZap, RotateCw } from "lucide-react";
import { useState } from "react";
import { askForModels, modelClassesQuery, modelsQuery } from "@/api/queries/models";
import { providerKeys, providersQuery } from "@/api/queries/providers";
import type { components } from "@/api/schema";
import { ClassChip, cx, Skeleton } from "@/components/ui";
import { money, number } from "@/lib/i18n/format";
import { type ModelName, modelName } from "./modelValue";
import { useModelTexts } from "./texts";

type Model = components["schemas"]["ModelInfo"];
type Classes = components["schemas"]["ModelClassesOut"];
type Provider = components["schemas"]["ProviderStatus"];

interface ModelListProps {
  now: ModelName | null;
  /** The default, as provider/name, where one may be used; and choosing it. */
  standard?: string | undefined;
  onStandard?: () => void;
  onPick: (model: ModelName) => void;
  /** A provider by its id, or any. */
  onConnect: (provider: string | true) => void;
}

/** Models by provider, those that can be asked now first; any other name of a provider's may be written too. */
export function ModelList({ now, standard, onStandard, onPick, onConnect }: ModelListProps) {
  const t = useModelTexts();
  const models = useQuery(modelsQuery);
  const providers = useQuery(providersQuery);
  const classes = useQuery(modelClassesQuery);
  const [written, setWritten] = useState("");
  const own = modelName(written.trim());
  const isKnown = own && models.data?.some((one) => one.provider === own.provider && one.name === own.name);
  if (models.isPending || providers.isPending) return <Skeleton className="m-2 h-64" />;
  const sorted = [...(providers.data ?? [])].sort((one, other) => Number(other.configured) - Number(one.configured));
  return (
    <Command label={t("choose")} loop>
      <Command.Input
        value={written}
        onValueChange={setWritten}
        placeholder={t("find")}
        className="h-9 w-full border-line border-b bg-transparent px-3 outline-none placeholder:text-faint"
      />
      <Command.List className="max-h-80 overflow-y-auto p-1">
        {!own && <Command.Empty className="px-2 py-4 text-center text-muted text-sm">{t("nothing")}</Command.Empty>}
        {standard && onStandard && (
          <Command.Item value={t("default", { model: standard })} onSelect={onStandard} className={ITEM}>
            <Check aria-hidden className={cx("size-3.5 shrink-0 text-accent", now && "invisible")} />
            <span className="min-w-0 flex-1 truncate">{t("default", { model: standard })}</span>
          </Command.Item>
        )}
        {own && !isKnown && (
          <Command.Item value={written} forceMount onSelect={() => onPick(own)} className={ITEM}>
            {t("use", { model: `${own.provider}/${own.name}` })}
          </Command.Item>
        )}
        {sorted.map((provider) => (
          <Group
            key={provider.id}
            provider={provider}
            models={(models.data ?? []).filter((one) => one.provider === provider.id)}
            classes={classes.data}
            now={now}
            onPick={onPick}
            onConnect={onConnect}
          />
        ))}
      </Command.List>
      <div className="flex h-9 border-line border-t text-accent text-sm">
        <button
          type="button"
          onClick={() => onConnect(true)}
          className="flex flex-1 items-center gap-2 px-3 hover:bg-hover"
        >
          <PlugZap aria-hidden className="size-4" />
          {t("connect")}
        </button>
        <Refresh />
      </div>
    </Command>
  );
}

/** Asks the providers for their models again: one was just installed, or a server started. */
function Refresh() {
  const t = useModelTexts();
  const queryClient = useQueryClient();
  const asking = useMutation({
    mutationFn: askForModels,
    onSuccess: async (models) => {
      queryClient.setQueryData(modelsQuery.queryKey, models);
      await queryClient.invalidateQueries({ queryKey: providerKeys.all });
    },
  });
  return (
    <button
      type="button"
      disabled={asking.isPending}
      onClick={() => asking.mutate()}
      className="flex items-center gap-2 px-3 hover:bg-hover disabled:opacity-60"
    >
      <RotateCw aria-hidden className={cx("size-4", asking.isPending && "animate-spin")} />
      {asking.isError ? t("refresh_failed") : t("refresh")}
    </button>
  );
}

const ITEM = "flex cursor-default items-center gap-2 rounded-md px-2 py-1 data-[selected=true]:bg-hover";

interface GroupProps extends ModelListProps {
  provider: Provider;
  models: Model[];
  classes: Classes | undefined;
}

function Group({ provider, models, classes, now, onPick, onConnect }: GroupProps) {
  const t = useModelTexts();
  // A group without an item is hidden by its list, so that it needs one that cannot be chosen.
  const isEmpty = models.length === 0;
  const reason = provider.reached === false ? t("no_answer", { provider: provider.label }) : provider.reason;
  if (isEmpty && provider.id === "local" && !provider.configured) return null;
  return (
    <Command.Group
      heading={
        <span className="flex items-center gap-2">
          {provider.label}
          {!provider.configured && (
            <button
              type="button"
              className="ml-auto font-medium text-warn underline"
              onClick={() => onConnect(provider.id)}
              aria-label={t("connect_this", { provider: provider.label })}
              title={reason}
            >
              {t("not_ready")}
            </button>
          )}
        </span>
      }
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs"
    >
      {isEmpty && (
        <Command.Item disabled value={provider.label} className="px-2 py-1 text-faint text-xs">
          {provider.configured ? t("no_list", { provider: provider.id }) : reason}
        </Command.Item>
      )}
      {models.map((model) => (
        <Command.Item
          key={model.name}
          value={`${model.provider}/${model.name}`}
          keywords={[model.label, provider.label]}
          onSelect={() => onPick({ provider: model.provider, name: model.name })}
          className={ITEM}
        >
          <Check
            aria-hidden
            className={`size-3.5 shrink-0 text-accent ${now?.provider === model.provider && now.name === model.name ? "" : "invisible"}`}
          />
          <span className="min-w-0 flex-1 truncate">{model.label}</span>
          <Abilities model={model} classes={classes} />
        </Command.Item>
      ))}
    </Command.Group>
  );
}

function Abilities({ model, classes }: { model: Model; classes: Classes | undefined }) {
  const t = useModelTexts();
  const level = classLevel(classes, model);
  const { price_in: input, price_out: output, context_window: window } = model;
  return (
    <span className="flex shrink-0 items-center gap-1.5 text-faint text-xs">
      {model.vision && <Eye role="img" aria-label={t("sees")} className="size-3.5" />}
      {model.audio && <Mic role="img" aria-label={t("hears")} className="size-3.5" />}
      {window !== null && (
        <span title={t("context_more", { count: number(window / 1000) })}>
          {t("context", { count: number(window / 1000) })}
        </span>
      )}
      {input !== null && output !== null && (
        <span title={t("price", { input: money(input), output: money(output) })}>
          {money(input)}/{money(output)}
        </span>
      )}
      {level !== null && (
        <span title={t("class", { name: classes?.levels[level] ?? "" })}>
          <ClassChip level={level} />
        </span>
      )}
    </span>
  );
}

/** The class of a model; null where the installation has no classes. */
function classLevel(classes: Classes | undefined, { provider, name }: ModelName): number | null {
  if (!classes?.enabled) return null;
  const own = classes.items.find((one) => one.provider === provider && one.name === name);
  return own?.level ?? classes.default_level;
}
