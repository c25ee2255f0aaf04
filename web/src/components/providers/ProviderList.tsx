import { RadioGroup } from "radix-ui";
import { cx } from "@/components/ui";
import { useProviderTexts } from "./texts";
import { type Provider, providerName } from "./values";

interface ListProps {
  providers: readonly Provider[];
  chosen: string;
  onChoose: (id: string) => void;
}

/** The providers there are, with the state of each. */
export function ProviderList({ providers, chosen, onChoose }: ListProps) {
  const t = useProviderTexts();
  return (
    <RadioGroup.Root
      aria-label={t("choose")}
      value={chosen}
      onValueChange={onChoose}
      className="flex max-h-40 flex-col gap-0.5 overflow-y-auto sm:max-h-none"
    >
      {providers.map((one) => (
        <RadioGroup.Item
          key={one.id}
          value={one.id}
          className="flex items-center gap-2.5 rounded-md px-2.5 py-1.5 text-left hover:bg-hover data-[state=checked]:bg-accent-soft"
        >
          <span
            aria-hidden
            className={cx("size-2 shrink-0 rounded-full", one.configured ? "bg-ok" : "border border-faint")}
          />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{providerName(t, one)}</span>
            <span className="block truncate text-xs text-muted">
              {one.configured ? t("ready") : one.installed ? t("needs_setup") : t("not_installed")}
            </span>
          </span>
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
