import { useQuery } from "@tanstack/react-query";
import { Brain, ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { Suspense, useState } from "react";
import { modelsQuery } from "@/api/queries/models";
import { providersQuery } from "@/api/queries/providers";
import type { JsonValue } from "@/api/types";
import { cx } from "@/components/ui";
import { part } from "@/lib/part";
import { ModelList } from "./ModelList";
import { modelName, withModel } from "./modelValue";
import { useModelTexts } from "./texts";

/** It comes when somebody connects a provider. */
const ProviderDialog = part(async () => ({ default: (await import("@/components/providers")).ProviderDialog }));

interface ModelPickerProps {
  value: JsonValue | undefined;
  onChange: (value: JsonValue) => void;
  /** The model that is used when none is chosen, as provider/name; without it one has to be chosen. */
  standard?: string | undefined;
  /** Leaves the choice to the default. */
  onStandard?: () => void;
  label?: string;
  id?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
}

/** A model: of which provider, whether it can be asked now, what it can do and costs. */
export function ModelPicker({ value, onChange, standard, onStandard, label, ...ids }: ModelPickerProps) {
  const t = useModelTexts();
  const [open, setOpen] = useState(false);
  const [connecting, setConnecting] = useState<string | true | null>(null);
  const providers = useQuery(providersQuery);
  const models = useQuery(modelsQuery);
  const now = modelName(value);
  const provider = providers.data?.find((one) => one.id === now?.provider);
  const known = models.data?.find((one) => one.provider === now?.provider && one.name === now?.name);
  const chosen = known?.label ?? now?.name ?? (typeof value === "string" ? value : "");
  const byDefault = standard ? t("default", { model: standard }) : "";
  const connect = (id: string | true) => {
    setOpen(false);
    setConnecting(id);
  };
  return (
    <div className="flex flex-col gap-1">
      <Popover.Root open={open} onOpenChange={setOpen}>
        <Popover.Trigger
          {...ids}
          {...(label && !ids.id ? { "aria-label": `${label}: ${chosen || byDefault || t("choose")}` } : {})}
          className="inline-flex h-8 w-full items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-left hover:border-faint disabled:opacity-60 aria-invalid:border-bad"
        >
          <Brain aria-hidden className="size-4 shrink-0 text-port-model" />
          <PickedName chosen={chosen} byDefault={byDefault} />
          {now && <span className="shrink-0 text-faint text-xs">{provider?.label ?? now.provider}</span>}
          <ChevronDown aria-hidden className="size-4 shrink-0 text-faint" />
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Content
            align="start"
            sideOffset={4}
            collisionPadding={8}
            aria-label={t("choose")}
            className="z-50 w-96 max-w-[calc(100vw-1rem)] animate-rise overflow-hidden rounded-lg border border-line bg-raised shadow-float outline-none"
          >
            <ModelList
              now={now}
              standard={standard}
              onStandard={() => {
                onStandard?.();
                setOpen(false);
              }}
              onConnect={connect}
              onPick={(model) => {
                onChange(withModel(value, model));
                setOpen(false);
              }}
            />
          </Popover.Content>
        </Popover.Portal>
      </Popover.Root>
      {provider && !provider.configured && (
        <p className="text-warn text-xs">
          {t("not_connected", { provider: provider.label })}{" "}
          <button type="button" className="font-medium underline" onClick={() => setConnecting(provider.id)}>
            {t("connect_this", { provider: provider.label })}
          </button>
        </p>
      )}
      {connecting !== null && (
        <Suspense>
          <ProviderDialog
            open
            onOpenChange={(still) => !still && setConnecting(null)}
            {...(typeof connecting === "string" ? { provider: connecting } : {})}
          />
        </Suspense>
      )}
    </div>
  );
}

/** The chosen model, else the default one in grey, else the invitation to choose. */
function PickedName({ chosen, byDefault }: { chosen: string; byDefault: string }) {
  const t = useModelTexts();
  return (
    <span className={cx("min-w-0 flex-1 truncate", !chosen && (byDefault ? "text-muted" : "text-faint"))}>
      {chosen || byDefault || t("choose")}
    </span>
  );
}
