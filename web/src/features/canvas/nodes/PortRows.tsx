import { memo } from "react";
import { cx } from "@/components/ui";
import { ERROR } from "@/lib/wiring";
import type { Card } from "../model/card";
import { PortHandle } from "./PortHandle";

/** The names of ports beside their handles: what comes in at the left, what goes out at the right. */
export const PortRows = memo(function PortRows({ nodeId, card }: { nodeId: string; card: Card }) {
  return (
    <>
      {card.inputs.map((port) => (
        <span
          key={`in ${port.name}`}
          className="absolute left-3.5 max-w-[58%] -translate-y-1/2 truncate text-xs text-muted"
          style={{ top: port.y }}
        >
          {port.label}
        </span>
      ))}
      {card.outputs.map((port) =>
        port.name === "tool" ? null : (
          <span
            key={`out ${port.name}`}
            className={cx(
              "absolute right-3.5 max-w-[42%] -translate-y-1/2 truncate text-right text-xs",
              port.name === ERROR ? "text-bad" : "text-muted",
            )}
            style={{ top: port.y }}
          >
            {port.label}
          </span>
        ),
      )}
      {card.inputs.map((port) => (
        <PortHandle key={`i ${port.name}`} nodeId={nodeId} port={port} side="input" />
      ))}
      {card.outputs.map((port) => (
        <PortHandle key={`o ${port.name}`} nodeId={nodeId} port={port} side="output" />
      ))}
    </>
  );
});
