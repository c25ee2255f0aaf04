import type { RunStatistics } from "@/api/queries/statistics";
import { duration, money, number } from "@/lib/i18n/format";

export interface Line {
  label: string;
  /** A role of colour, without the dashes. */
  colour: string;
  values: (number | null)[];
}

export interface ChartData {
  /** Seconds since 1970, one for each value. */
  at: number[];
  lines: Line[];
  shape: "bars" | "lines";
  /** What the moment of a value is called. */
  from: string;
  show: (value: number | null | undefined) => string;
  /** Counts have no halves. */
  whole?: boolean;
  /** The foot of the axis, where `show` has other words for nothing. */
  zero?: string;
}

/** Distances between the marks of an axis of counts. */
const WHOLE = [1, 2, 5]
  .flatMap((step) => Array.from({ length: 9 }, (_, power) => step * 10 ** power))
  .sort((a, b) => a - b);

/** What the vertical axis of a chart is marked with. */
export const axisOf = (data: ChartData) => ({
  ...(data.whole ? { incrs: WHOLE } : {}),
  values: (_chart: unknown, ticks: number[]) =>
    ticks.map((tick) => (tick === 0 ? (data.zero ?? data.show(0)) : data.show(tick))),
});

const show = (format: (value: number) => string) => (value: number | null | undefined) =>
  value === null || value === undefined ? "–" : format(value);

type Names = Record<"from" | "runs" | "failed" | "cost" | "half" | "most", string>;

/** What the three charts draw. */
export function chartsOf({ parts }: RunStatistics, names: Names): Record<"runs" | "cost" | "latency", ChartData> {
  const at = parts.map((part) => new Date(part.at).getTime() / 1000);
  const line = (label: string, colour: string, values: (number | null)[]): Line => ({ label, colour, values });
  return {
    runs: {
      at,
      from: names.from,
      shape: "bars",
      show: show((value) => number(value)),
      whole: true,
      lines: [
        line(
          names.runs,
          "accent",
          parts.map((part) => part.runs),
        ),
        line(
          names.failed,
          "bad",
          parts.map((part) => part.failed),
        ),
      ],
    },
    cost: {
      at,
      from: names.from,
      shape: "bars",
      show: show(money),
      lines: [
        line(
          names.cost,
          "info",
          parts.map((part) => part.spent.usd),
        ),
      ],
    },
    latency: {
      at,
      from: names.from,
      shape: "lines",
      show: show(duration),
      zero: "0",
      lines: [
        line(
          names.half,
          "accent",
          parts.map((part) => part.p50_ms),
        ),
        line(
          names.most,
          "warn",
          parts.map((part) => part.p95_ms),
        ),
      ],
    },
  };
}
