import type { ConnectionLineComponentProps } from "@xyflow/react";
import { curve } from "../model/paths";

/** The edge that is being drawn, in the colour of what it would say. */
export function ConnectionLine({ fromX, fromY, toX, toY, fromHandle, connectionStatus }: ConnectionLineComponentProps) {
  const [near, far] = [
    { x: fromX, y: fromY },
    { x: toX, y: toY },
  ];
  const path = fromHandle.type === "source" ? curve(near, far) : curve(far, near);
  const look =
    connectionStatus === "valid" ? "wire-valid" : connectionStatus === "invalid" ? "wire-invalid" : "wire-open";
  return <path d={path} fill="none" className={`wire ${look}`} />;
}
