import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { componentsQuery } from "@/api/queries/components";
import type { FlowItem } from "@/api/queries/flowList";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { byType, flowOfSketch } from "../sketch";
import { useHomeTexts } from "../texts";

/** A small picture of a flow, drawn when it comes near the screen. Its place has its size from the start. */
export function FlowPicture({ item }: { item: FlowItem }) {
  const t = useHomeTexts();
  const place = useRef<HTMLDivElement>(null);
  const near = useNear(place);
  const { data } = useQuery(componentsQuery);
  const templates = useMemo(() => byType(data), [data]);
  const flow = useMemo(() => flowOfSketch(item), [item]);
  return (
    <div
      ref={place}
      className="pointer-events-none flex h-32 items-center justify-center overflow-hidden rounded-t-lg border-b border-line bg-sunken p-3"
    >
      {flow && near ? (
        <FlowDrawing compact flow={flow} templates={templates} title={t("picture_of", { name: item.name })} />
      ) : (
        !flow && <span className="text-sm text-muted">{t(item.sketch ? "no_picture" : "large_picture")}</span>
      )}
    </div>
  );
}

function useNear(place: React.RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (near || !element) return;
    if (!("IntersectionObserver" in globalThis)) {
      setNear(true);
      return;
    }
    const observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && setNear(true), {
      rootMargin: "300px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [near, place]);
  return near;
}
