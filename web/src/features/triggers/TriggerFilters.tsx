import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { type TriggerFilter, triggersQuery } from "@/api/queries/triggers";
import { Input, Select } from "@/components/ui";
import { KINDS } from "./add/draft";
import { useTriggerTexts } from "./texts";

const ALL = "*";
const STATES = ["on", "off", "failing", "unpublished"] as const;
const TYPED_MS = 250;

interface FilterWords {
  flow?: string | undefined;
  kind?: string | undefined;
  state?: string | undefined;
  search?: string | undefined;
}

/** The filter that the address names. What is no kind and no state is ignored. */
export function useTriggerFilter(): TriggerFilter {
  const { flow, kind, state, search }: FilterWords = useSearch({ strict: false });
  const knownKind = KINDS.find((one) => one === kind);
  const knownState = STATES.find((one) => one === state);
  return {
    ...(flow ? { flow_id: flow } : {}),
    ...(knownKind ? { kind: knownKind } : {}),
    ...(knownState ? { state: knownState } : {}),
    ...(search ? { text: search } : {}),
  };
}

/** Narrows the list of triggers by words, flow, kind and state; the address keeps it. */
export function TriggerFilters() {
  const t = useTriggerTexts();
  const navigate = useNavigate();
  const words: FilterWords = useSearch({ strict: false });
  const filter = useTriggerFilter();
  const { data = [] } = useQuery(triggersQuery());
  const flows = new Map(data.map((trigger) => [trigger.flow_id, trigger.flow_name]));
  const set = (changes: FilterWords) =>
    void navigate({ to: "/triggers", search: { ...words, ...changes }, replace: true });
  const [typed, setTyped] = useState(words.search ?? "");
  useEffect(() => setTyped(words.search ?? ""), [words.search]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it waits for typing only
  useEffect(() => {
    if (typed.trim() === (words.search ?? "")) return;
    const timer = setTimeout(() => set({ search: typed.trim() || undefined }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const chosen = (value: string) => (value === ALL ? undefined : value);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <div className="relative min-w-full flex-1 sm:min-w-48">
        <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-faint" />
        <Input
          type="search"
          aria-label={t("filter_text")}
          placeholder={t("filter_text")}
          className="pl-8"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <Select
        aria-label={t("filter_flow")}
        className="min-w-36 flex-1 sm:w-44 sm:flex-none"
        value={words.flow ?? ALL}
        options={[
          { value: ALL, label: t("filter_all_flows") },
          ...[...flows].map(([value, label]) => ({ value, label })),
          ...(words.flow && !flows.has(words.flow) ? [{ value: words.flow, label: words.flow }] : []),
        ]}
        onChange={(flow) => set({ flow: chosen(flow) })}
      />
      <Select
        aria-label={t("filter_kind")}
        className="min-w-36 flex-1 sm:w-44 sm:flex-none"
        value={filter.kind ?? ALL}
        options={[
          { value: ALL, label: t("filter_all_kinds") },
          ...KINDS.map((kind) => ({ value: kind as string, label: t(`kind_${kind}`) })),
        ]}
        onChange={(kind) => set({ kind: chosen(kind) })}
      />
      <Select
        aria-label={t("filter_state")}
        className="min-w-36 flex-1 sm:w-40 sm:flex-none"
        value={filter.state ?? ALL}
        options={[
          { value: ALL, label: t("filter_all_states") },
          ...STATES.map((state) => ({ value: state as string, label: t(`start_${state}`) })),
        ]}
        onChange={(state) => set({ state: chosen(state) })}
      />
    </search>
  );
}
