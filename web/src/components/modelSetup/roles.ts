import type { RoleName } from "@/api/queries/modelSetup";
import type { ModelSetupText } from "./texts";

/** What each role is called, and what it is for. */
export const ROLE_WORDS: Record<RoleName, { title: ModelSetupText; more: ModelSetupText }> = {
  default: { title: "role_default", more: "role_default_more" },
  assistant: { title: "role_assistant", more: "role_assistant_more" },
  codev: { title: "role_codev", more: "role_codev_more" },
  step: { title: "role_step", more: "role_step_more" },
  fallback: { title: "role_fallback", more: "role_fallback_more" },
};
