import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RenderResult, render } from "@testing-library/react";
import type { ReactElement } from "react";
import type { Flow, FlowOut, Template } from "@/api/types";
import { TipProvider } from "@/components/ui";
import { createDraftStore, DraftProvider, type DraftStore } from "@/lib/draft";

interface Rendered extends RenderResult {
  store: DraftStore;
}

interface RenderOptions {
  flow?: Flow;
  templates?: Template[];
  store?: DraftStore;
}

/** Draws a component with everything that the studio puts around it: queries, tips, an open flow. */
export function renderStudio(ui: ReactElement, options: RenderOptions = {}): Rendered {
  const store = options.store ?? createDraftStore(flowOut(options.flow ?? {}), options.templates ?? []);
  const queryClient = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const found = render(
    <QueryClientProvider client={queryClient}>
      <TipProvider>
        <DraftProvider value={store}>{ui}</DraftProvider>
      </TipProvider>
    </QueryClientProvider>,
  );
  return { ...found, store };
}

/** A flow as the server answers it, with `definition` as its draft. */
export function flowOut(definition: Flow): FlowOut {
  return {
    id: "flow-1",
    name: definition.name ?? "A flow",
    description: "",
    space_id: "space-1",
    revision: 1,
    published_version: null,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    definition,
    issues: [],
  };
}
