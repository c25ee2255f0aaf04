import { assistantConfigQuery } from "@/api/queries/assistant";
import { setupKeys } from "@/api/queries/modelSetup";
import { modelKeys } from "@/api/queries/models";
import { providerKeys } from "@/api/queries/providers";
import { variableKeys } from "@/api/queries/variables";

/** What is asked anew after a change of what models there are and which is chosen. */
export const MODELS_TOUCHED = [
  setupKeys.servers,
  setupKeys.roles,
  setupKeys.facts,
  modelKeys.all,
  providerKeys.all,
  variableKeys.all,
  assistantConfigQuery.queryKey,
] as const;
