import { inOrder, isOver, type LiveRun } from "./live";

/** What is shown before anybody chose: what the run waits for; after its end what failed, or else its last output. */
export function startingStep(live: LiveRun): string | undefined {
  const steps = inOrder(live);
  if (!isOver(live.status)) return steps.find((one) => one.status === "waiting")?.id;
  return (steps.find((one) => one.status === "failed") ?? steps.findLast((one) => one.status === "completed"))?.id;
}
