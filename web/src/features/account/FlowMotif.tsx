const NODES = [
  { x: 60, y: 120, tone: "fill-port-text" },
  { x: 60, y: 300, tone: "fill-port-file" },
  { x: 300, y: 200, tone: "fill-port-model" },
  { x: 540, y: 110, tone: "fill-port-data" },
  { x: 540, y: 310, tone: "fill-port-table" },
] as const;
const EDGES = [
  [0, 2],
  [1, 2],
  [2, 3],
  [2, 4],
] as const;
const WIDTH = 150;
const HEIGHT = 84;

/** A flow, as a quiet picture; it says nothing. */
export function FlowMotif() {
  return (
    <svg
      aria-hidden
      viewBox="0 0 750 500"
      preserveAspectRatio="xMidYMid meet"
      className="absolute inset-x-10 top-[8%] h-[58%] w-[calc(100%-5rem)]"
    >
      {EDGES.map(([from, to]) => {
        const [a, b] = [NODES[from], NODES[to]];
        const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
        const middle = (x1 + x2) / 2;
        return (
          <path
            key={`${from}-${to}`}
            d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
            className="fill-none stroke-accent/60"
            strokeWidth={2}
          />
        );
      })}
      {NODES.map(({ x, y, tone }) => (
        <g key={`${x} ${y}`}>
          <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx={12} className="fill-surface stroke-line-strong" />
          <circle cx={x + 24} cy={y + 26} r={8} className={tone} />
          <rect x={x + 42} y={y + 21} width={76} height={9} rx={4.5} className="fill-line-strong" />
          <rect x={x + 16} y={y + 48} width={118} height={7} rx={3.5} className="fill-line" />
          <rect x={x + 16} y={y + 62} width={84} height={7} rx={3.5} className="fill-line" />
        </g>
      ))}
    </svg>
  );
}
