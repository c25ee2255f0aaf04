import { ViewportPortal } from "@xyflow/react";
import { useEffect, useMemo } from "react";
import type { CanvasNode } from "../model/flowNodes";
import type { Stage } from "../model/stage";
import { useView } from "../model/view";
import { placesOf } from "./place";
import { Region } from "./Region";

/** Over edges and nodes, selected ones too. */
const OVER_ALL = 1001;

/** From the right side of a node to the line to its frame: what a run did is written below the rest. */
const BESIDE_TEXT = 6;

/** The steps of the flows that nodes run, in frames below these nodes. */
export default function Regions({ stage, nodes }: { stage: Stage; nodes: readonly CanvasNode[] }) {
  const sizes = useView((state) => state.regions);
  const places = useMemo(() => placesOf(nodes, sizes), [nodes, sizes]);
  useEffect(() => {
    stage.drawn.regions = places.map((place) => place.rect);
    return () => {
      stage.drawn.regions = [];
    };
  }, [stage, places]);
  return (
    <ViewportPortal>
      {places.map(({ id, rect, node }) => {
        const below = rect.y > node.y;
        const [from, to] = below ? [node.y + node.height, rect.y] : [rect.y + rect.height, node.y];
        return (
          <div key={id}>
            <div
              aria-hidden
              className="absolute w-0 border-accent border-l-2 border-dashed"
              style={{ left: node.x + node.width - BESIDE_TEXT, top: from - 2, height: to - from + 2 }}
            />
            <div
              className="pointer-events-auto absolute"
              style={{ left: rect.x, top: rect.y, width: rect.width, height: rect.height, zIndex: OVER_ALL }}
            >
              <Region stage={stage} id={id} rect={rect} node={node} />
            </div>
          </div>
        );
      })}
    </ViewportPortal>
  );
}
