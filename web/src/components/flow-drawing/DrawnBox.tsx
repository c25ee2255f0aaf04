import { Box } from "lucide-react";
import type { StepSummary } from "@/api/types";
import { ICONS } from "@/components/icons/componentIcons";
import { cx } from "@/components/ui";
import { cut, type DrawnNode } from "./geometry";
import type { Mark } from "./looks";
import { boxLook, PORT_FILLS, PORT_TEXTS } from "./looks";
import { useFlowDrawingTexts } from "./texts";

interface DrawnBoxProps {
  node: DrawnNode;
  mark?: Mark | undefined;
  status?: StepSummary["status"] | undefined;
  selected?: boolean;
  /** The one box that Tab reaches. */
  stop?: boolean;
  onSelect?: (() => void) | undefined;
}

/** A node of the picture: colour of what it gives, icon, name and kind; a sign where it is marked or has run. */
export function DrawnBox({ node, mark, status, selected, stop, onSelect }: DrawnBoxProps) {
  const t = useFlowDrawingTexts();
  if (node.frame) return <Frame node={node} />;
  const look = boxLook(node.note !== null, mark, status);
  const said = [node.title, node.kind, mark && t(mark), status && t(status)].filter(Boolean).join(", ");
  const button = {
    role: "button",
    tabIndex: stop ? 0 : -1,
    "aria-pressed": selected ?? false,
    onClick: onSelect,
  };
  return (
    <g
      data-node={node.id}
      transform={`translate(${node.x} ${node.y})`}
      className={cx("group outline-none", onSelect && "cursor-pointer", status === "skipped" && "opacity-60")}
      {...(onSelect ? button : {})}
    >
      {/* Its name too: what is written in the box may be cut short. */}
      <title>{said}</title>
      <Ring node={node} selected={selected ?? false} />
      <rect
        width={node.width}
        height={node.height}
        rx={9}
        strokeWidth={look.heavy ? 2.5 : 1.5}
        strokeDasharray={look.dashed ? "7 5" : undefined}
        className={cx(look.fill, look.stroke)}
      />
      <g aria-hidden>
        {node.note === null ? (
          <StepText node={node} signed={look.sign !== ""} />
        ) : (
          <NoteText text={node.note || node.title} />
        )}
        {look.sign && <Sign node={node} sign={look.sign} dot={look.dot} />}
      </g>
    </g>
  );
}

/** A group: a frame behind its members. */
function Frame({ node }: { node: DrawnNode }) {
  return (
    <g data-node={node.id} transform={`translate(${node.x} ${node.y})`}>
      <rect width={node.width} height={node.height} rx={12} className="fill-sunken stroke-line" strokeWidth={1.5} />
      <text x={14} y={22} fontSize={13} fontWeight={600} className="fill-muted">
        {cut(node.note ?? "", Math.max(4, Math.floor(node.width / 9)))}
      </text>
    </g>
  );
}

/** Around a box that is chosen or has the keyboard. */
function Ring({ node, selected }: { node: DrawnNode; selected: boolean }) {
  return (
    <rect
      x={-5}
      y={-5}
      width={node.width + 10}
      height={node.height + 10}
      rx={13}
      fill="none"
      strokeWidth={3}
      className={cx(selected ? "stroke-accent" : "stroke-transparent", "group-focus-visible:stroke-focus")}
    />
  );
}

function Sign({ node, sign, dot }: { node: DrawnNode; sign: string; dot: string }) {
  const [x, y] = [node.width - 18, node.height / 2];
  return (
    <>
      <circle cx={x} cy={y} r={10} className={dot} />
      <text x={x} y={y + 5} textAnchor="middle" fontSize={15} fontWeight={700} className="fill-canvas">
        {sign}
      </text>
    </>
  );
}

function StepText({ node, signed }: { node: DrawnNode; signed: boolean }) {
  const Icon = ICONS[node.icon] ?? Box;
  return (
    <>
      <rect
        x={10}
        y={(node.height - 34) / 2}
        width={34}
        height={34}
        rx={8}
        className={cx(PORT_FILLS[node.port ?? ""] ?? "fill-faint", "opacity-15")}
      />
      <Icon
        aria-hidden
        x={18}
        y={(node.height - 18) / 2}
        width={18}
        height={18}
        className={PORT_TEXTS[node.port ?? ""] ?? "text-faint"}
      />
      <text x={54} y={node.height / 2 - 3} fontSize={15} fontWeight={600} className="fill-ink">
        {cut(node.title, signed ? 14 : 18)}
      </text>
      <text x={54} y={node.height / 2 + 16} fontSize={12.5} className="fill-muted">
        {cut(node.kind, signed ? 18 : 23)}
      </text>
    </>
  );
}

function NoteText({ text }: { text: string }) {
  const lines = [cut(text, 28)];
  const rest = text.replace(/\s+/g, " ").trim().slice(lines[0]?.replace("…", "").length);
  if (lines[0]?.endsWith("…")) lines.push(cut(rest, 28));
  return (
    <text fontSize={13} className="fill-muted">
      {lines.map((line, row) => (
        <tspan key={line} x={12} y={28 + row * 20}>
          {line}
        </tspan>
      ))}
    </text>
  );
}
