import { queryOptions } from "@tanstack/react-query";
import { servedWords, type Translate } from "@/lib/i18n/served";
import { api, unwrap } from "../client";

export const templateKeys = {
  all: ["templates"] as const,
  list: (q: string) => ["templates", "list", q] as const,
  one: (id: string) => ["templates", "one", id] as const,
  needs: (id: string) => ["templates", "one", id, "needs"] as const,
};

interface Described {
  title: string;
  description: string;
  tags: string[];
}

/** What is said of a ready-made flow, in the reader's language; what the flow itself says is its own. */
const inLanguage = <T extends Described>(template: T, translate: Translate): T => ({
  ...template,
  title: translate(template.title),
  description: translate(template.description),
  tags: [...new Set(template.tags.map(translate))],
});

/** Ready-made flows, best match first. */
export const templatesQuery = (q: string) =>
  queryOptions({
    queryKey: templateKeys.list(q),
    queryFn: async ({ signal }) => {
      const [found, translate] = await Promise.all([
        unwrap(api.GET("/api/v1/templates", { params: { query: q ? { q } : {} }, signal })),
        servedWords(),
      ]);
      return found.map((one) => inLanguage(one, translate));
    },
    staleTime: 10 * 60_000,
    placeholderData: (before) => before,
  });

/** One of them with its content. */
export const templateQuery = (id: string) =>
  queryOptions({
    queryKey: templateKeys.one(id),
    queryFn: async ({ signal }) => {
      const [found, translate] = await Promise.all([
        unwrap(api.GET("/api/v1/templates/{template_id}", { params: { path: { template_id: id } }, signal })),
        servedWords(),
      ]);
      return inLanguage(found, translate);
    },
    staleTime: 10 * 60_000,
  });

/** What a text or file would use, read without running it. */
export const importReport = (content: string) => unwrap(api.POST("/api/v1/flows/import/report", { body: { content } }));
