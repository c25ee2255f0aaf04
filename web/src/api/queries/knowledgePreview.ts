import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import { knowledgeKeys } from "./knowledge";

/** How a file, which is not stored, or a document of a base would be divided. */
export const previewQuery = (
  base_id: string,
  source: File | string,
  sizes: { passage_tokens: number; overlap_tokens: number },
) =>
  queryOptions({
    queryKey: [...knowledgeKeys.all, base_id, "preview", named(source), sizes],
    queryFn: ({ signal }) => {
      const query = typeof source === "string" ? { ...sizes, document_id: source } : sizes;
      const form = new FormData();
      if (typeof source !== "string") form.append("file", source);
      return unwrap(
        api.POST("/api/v1/knowledge-bases/{base_id}/preview", {
          params: { path: { base_id }, query },
          ...(typeof source === "string"
            ? {}
            : { body: form as never, bodySerializer: (body: unknown) => body as FormData }),
          signal,
        }),
      );
    },
    staleTime: 60_000,
  });

const named = (source: File | string) =>
  typeof source === "string" ? source : [source.name, source.size, source.lastModified];
