import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useAppearance } from "@/lib/appearance/appearance";
import { dateTime } from "@/lib/i18n/format";
import { axisOf, type ChartData, type Line } from "./charts";

const HEIGHT = 190;
const DAY = 86_400;
const HOURS = [1, 2, 3, 6, 12].map((hours) => hours * 3600);
/** A day is named once, however many parts it has. */
const DAYS = [1, 2, 3, 7, 14, 30].map((days) => days * DAY);
const LOOK =
  "min-h-56 text-muted sm:min-h-52 [&_.uplot]:font-sans! [&_.u-legend]:mt-1! [&_.u-legend]:text-xs! [&_.u-legend_th]:font-normal! [&_.u-legend_.u-value]:font-medium [&_.u-value]:tabular-nums [&_.u-series:first-child:has(.u-value:empty)]:invisible [&_.u-series:has(.u-value:empty)_th]:after:hidden";

/** A chart in a canvas, in the colours of the theme; made anew with the data, resized with its place. */
export default function Drawing({ data, label }: { data: ChartData; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const dark = useAppearance((state) => state.dark);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other colours are read when the theme is another
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const values = [data.at, ...data.lines.map((line) => line.values)] as UPlot.AlignedData;
    const chart = new UPlot(options(data, element.clientWidth), values, element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [data, dark]);
  return <div ref={place} role="img" aria-label={label} className={LOOK} />;
}

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

const shown = (at: number, how: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(document.documentElement.lang === "sv" ? "sv-SE" : "en-GB", how).format(at * 1000);
const timeOf = (at: number) => shown(at, { hour: "2-digit", minute: "2-digit" });
const dayOf = (at: number) => shown(at, { day: "numeric", month: "short" });

function options(data: ChartData, width: number): UPlot.Options {
  const axis = {
    stroke: token("muted"),
    font: "11px Inter Variable, sans-serif",
    grid: { stroke: token("line"), width: 1 },
    ticks: { show: false },
  };
  const step = (data.at[1] ?? 0) - (data.at[0] ?? 0);
  const moment = (at: number) => (step < DAY / 4 ? timeOf(at) : dayOf(at));
  return {
    width,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    // Half a part on both sides: the first and the last bar are whole.
    scales: {
      x: { range: (_chart, low, high) => [low - step / 2, high + step / 2] },
      y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        space: 64,
        incrs: step < DAY / 4 ? HOURS : DAYS,
        values: (_chart, ticks) => ticks.map(moment),
      },
      { ...axis, size: 64, ...axisOf(data) },
    ],
    series: [
      { label: data.from, value: (_chart, at) => (at === null ? "" : dateTime(new Date(at * 1000))) },
      ...data.lines.map((line) => series(line, data)),
    ],
  };
}

function series(line: Line, data: ChartData): UPlot.Series {
  const colour = token(line.colour);
  const bars = data.shape === "bars" ? UPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 }) : undefined;
  return {
    label: line.label,
    stroke: colour,
    width: data.shape === "bars" ? 0 : 2,
    spanGaps: true,
    points: { show: data.shape === "lines", size: 5 },
    value: (_chart, value, _series, place) => (place === null ? "" : data.show(value)),
    ...(bars ? { fill: colour, paths: bars } : {}),
  };
}
