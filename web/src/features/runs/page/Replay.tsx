import { useQuery } from "@tanstack/react-query";
import { Pause, Play } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api, unwrap } from "@/api/client";
import type { RunOut } from "@/api/types";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { IconButton } from "@/components/ui";
import { toFlow, useDraft, useDraftStore } from "@/lib/draft";
import { duration } from "@/lib/i18n/format";
import { isOver, type LiveRun } from "../model/live";
import { statusesAt } from "../model/timeline";
import { useRunTexts } from "../texts";
import { useTimeline } from "./useTimeline";

/** A replay takes this long, however long the run took. */
const REPLAY_MS = 6000;

interface ReplayProps {
  run: RunOut;
  live: LiveRun;
  selected?: string | undefined;
  onSelect: (stepId: string) => void;
}

/** The flow as it ran, its steps lit in their order and timing. */
export function Replay({ run, live, selected, onSelect }: ReplayProps) {
  const t = useRunTexts();
  const store = useDraftStore();
  const templates = useDraft((state) => state.templates);
  const timeline = useTimeline(run, live);
  const over = isOver(live.status);
  const [moment, setMoment] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const { data: flow } = useQuery({
    queryKey: ["flows", "one", run.flow_id, "versions", run.version, "definition"],
    queryFn: async ({ signal }) => {
      const found = await unwrap(
        api.GET("/api/v1/flows/{flow_id}/versions/{version}", {
          params: { path: { flow_id: run.flow_id, version: run.version } },
          signal,
        }),
      );
      return found.definition;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

  useEffect(() => {
    if (!playing) return;
    let before = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const part = ((now - before) / REPLAY_MS) * timeline.length;
      before = now;
      setMoment((at) => {
        const next = (at ?? 0) + part;
        if (next < timeline.length) return next;
        setPlaying(false);
        return timeline.length;
      });
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, timeline.length]);

  const statuses = useMemo(
    () => statusesAt(timeline, moment === null || moment >= timeline.length ? Number.POSITIVE_INFINITY : moment),
    [timeline, moment],
  );
  const play = () => {
    if (!playing && (moment === null || moment >= timeline.length)) setMoment(0);
    setPlaying(!playing);
  };
  return (
    <div className="flex flex-col">
      <div className="h-96 p-3">
        <FlowDrawing
          flow={flow ?? toFlow(store.getState().document)}
          templates={templates}
          statuses={statuses}
          selected={selected}
          onSelect={onSelect}
          title={t("picture")}
        />
      </div>
      {over && (
        <div className="flex items-center gap-3 border-t border-line px-3 py-2">
          <IconButton label={t(playing ? "pause" : "play")} onClick={play}>
            {playing ? <Pause /> : <Play />}
          </IconButton>
          <input
            type="range"
            aria-label={t("replay_at")}
            aria-valuetext={duration(moment ?? timeline.length)}
            min={0}
            max={timeline.length}
            step={timeline.length / 200}
            value={moment ?? timeline.length}
            onChange={(event) => {
              setPlaying(false);
              setMoment(Number(event.target.value));
            }}
            className="min-w-0 flex-1 accent-accent"
          />
          <span className="w-28 text-right text-xs text-muted tabular-nums">
            {duration(moment ?? timeline.length)} / {duration(timeline.length)}
          </span>
        </div>
      )}
    </div>
  );
}
