import type { Trigger } from "@/api/queries/triggers";

export type TriggerState = "on" | "off" | "failing" | "unpublished";

/** What a trigger is doing: one that was paused for a reason, or whose last poll failed, is failing. */
export function stateOf(
  trigger: Pick<Trigger, "enabled" | "paused_reason" | "poll_error" | "published">,
): TriggerState {
  if (trigger.enabled ? trigger.poll_error : trigger.paused_reason) return "failing";
  if (!trigger.enabled) return "off";
  return trigger.published ? "on" : "unpublished";
}
