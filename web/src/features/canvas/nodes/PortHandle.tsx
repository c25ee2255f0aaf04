import { Handle, Position } from "@xyflow/react";
import { memo } from "react";
import type { PortType } from "@/api/types";
import { cx } from "@/components/ui";
import type { CardPort } from "../model/card";
import { fitsPort } from "../model/compatibility";
import { useView } from "../model/view";
import { useCanvasTexts } from "../texts";

const COLOURS: Record<PortType, string> = {
  Text: "text-port-text",
  Message: "text-port-message",
  Data: "text-port-data",
  Table: "text-port-table",
  File: "text-port-file",
  Model: "text-port-model",
  Tool: "text-port-tool",
};

const portColour = (types: readonly PortType[]) => (types[0] ? COLOURS[types[0]] : "text-faint");

/** Where edges leave or arrive. While one is being made, ports that fit light up and the others fade. */
export const PortHandle = memo(function PortHandle({
  nodeId,
  port,
  side,
}: {
  nodeId: string;
  port: CardPort;
  side: "input" | "output";
}) {
  const t = useCanvasTexts();
  const state = useView(({ connecting }) => {
    if (!connecting) return "idle";
    if (connecting.nodeId === nodeId && connecting.port === port.name && connecting.side === side) return "from";
    return fitsPort(connecting, { nodeId, port: port.name, side }, port.types) ? "fits" : "no";
  });
  const isInput = side === "input";
  const takes = port.types.join(t("or"));
  const about = `${port.label}: ${takes || t("unknown_type")}${port.many ? ` (${t("many")})` : ""}`;
  return (
    <Handle
      id={port.name}
      type={isInput ? "target" : "source"}
      position={isInput ? Position.Left : Position.Right}
      style={{ top: port.y }}
      title={port.help ? `${about}\n${port.help}` : about}
      data-fit={state}
      className={cx(
        "port",
        portColour(port.types),
        port.many && "port-many",
        port.branch && "port-branch",
        port.quiet && "port-quiet",
      )}
    />
  );
});
