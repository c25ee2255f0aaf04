import { Pause, Play } from "lucide-react";
import { Button } from "@/components/ui";
import type { LiveRun } from "../model/live";
import { useRunTexts } from "../texts";
import { usePause } from "./usePause";

interface PauseButtonProps {
  live: LiveRun;
  small?: boolean;
}

/** Pauses a run that is not over, or continues it. */
export function PauseButton({ live, small = false }: PauseButtonProps) {
  const t = useRunTexts();
  const pause = usePause();
  const size = small ? "sm" : "md";
  return live.status === "paused" ? (
    <Button
      size={size}
      kind="primary"
      icon={<Play />}
      busy={pause.isPending}
      onClick={() => pause.mutate({ id: live.id, to: "continue" })}
    >
      {t("continue_run")}
    </Button>
  ) : (
    <Button
      size={size}
      icon={<Pause />}
      title={t("pause_help")}
      busy={pause.isPending}
      onClick={() => pause.mutate({ id: live.id, to: "pause" })}
    >
      {t("pause_run")}
    </Button>
  );
}
