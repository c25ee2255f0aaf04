import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "../client";
import type { components } from "../schema";

export type ChatFlow = components["schemas"]["ChatFlow"];
export type RatedAnswer = components["schemas"]["RatedAnswer"];
export type Conversation = components["schemas"]["ConversationOut"];

export const chatKeys = {
  flows: (search: string) => ["chat", "flows", search] as const,
  flow: (id: string) => ["chat", "flow", id] as const,
  conversations: (flowId: string) => ["chat", "conversations", flowId] as const,
  messages: (id: string) => ["chat", "messages", id] as const,
  feedback: (id: string) => ["chat", "feedback", id] as const,
  rated: (base: string) => ["chat", "rated", base] as const,
};

/** The published flows that the user can chat with, a page after the other. */
export const chatFlowsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: chatKeys.flows(search),
    queryFn: ({ signal, pageParam: cursor }) =>
      unwrap(api.GET("/api/v1/chat/flows", { params: { query: { search, cursor, limit: 50 } }, signal })),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: (before) => before,
  });

/** A flow as its chat shows it. */
export const chatFlowQuery = (id: string) =>
  queryOptions({
    queryKey: chatKeys.flow(id),
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/v1/chat/flows/{flow_id}", { params: { path: { flow_id: id } }, signal })),
  });

/** The user's conversations with a flow, the last used first. */
export const conversationsQuery = (flowId: string, search: string) =>
  infiniteQueryOptions({
    queryKey: [...chatKeys.conversations(flowId), search] as const,
    queryFn: ({ signal, pageParam: cursor }) =>
      unwrap(
        api.GET("/api/v1/chat/conversations", {
          params: { query: { flow_id: flowId, search, cursor, limit: 50 } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: (before) => before,
  });

/** The messages of a conversation, newest first, a page after the other: each is a run. */
export const messagesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: chatKeys.messages(id),
    queryFn: ({ signal, pageParam: cursor }) =>
      unwrap(
        api.GET("/api/v1/chat/conversations/{conversation_id}/messages", {
          params: { path: { conversation_id: id }, query: { cursor } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
    staleTime: 0,
  });

export const addConversation = (flowId: string) =>
  unwrap(api.POST("/api/v1/chat/conversations", { body: { flow_id: flowId } }));

export const renameConversation = (id: string, title: string) =>
  unwrap(
    api.PATCH("/api/v1/chat/conversations/{conversation_id}", {
      params: { path: { conversation_id: id } },
      body: { title },
    }),
  );

export const deleteConversation = (id: string) =>
  unwrap(api.DELETE("/api/v1/chat/conversations/{conversation_id}", { params: { path: { conversation_id: id } } }));

/** Starts the run of a message; a request that is repeated with the same key starts it once. */
export const sendMessage = (id: string, text: string, files: string[], key: string) =>
  unwrap(
    api.POST("/api/v1/chat/conversations/{conversation_id}/messages", {
      params: { path: { conversation_id: id }, header: { "idempotency-key": key } },
      body: { text, file_ids: files, wait: false },
    }),
  );

/** What the user thinks of the answers of a conversation. */
export const feedbackQuery = (id: string) =>
  queryOptions({
    queryKey: chatKeys.feedback(id),
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/v1/chat/conversations/{conversation_id}/feedback", {
          params: { path: { conversation_id: id } },
          signal,
        }),
      ),
  });

export const rateAnswer = (id: string, run_id: string, helpful: boolean, correction: string) =>
  unwrap(
    api.PUT("/api/v1/chat/conversations/{conversation_id}/messages/{run_id}/feedback", {
      params: { path: { conversation_id: id, run_id } },
      body: { helpful, correction },
    }),
  );

/** How many answers are listed. */
export const MOST_RATED = 50;

/** Feedback on answers from a knowledge base, newest first. */
export const ratedAnswersQuery = (base_id: string) =>
  queryOptions({
    queryKey: chatKeys.rated(base_id),
    queryFn: async ({ signal }) =>
      (
        await unwrap(
          api.GET("/api/v1/chat/feedback/{base_id}", {
            params: { path: { base_id }, query: { limit: MOST_RATED } },
            signal,
          }),
        )
      ).items,
  });

export const deleteFeedback = (base_id: string, run_id: string) =>
  unwrap(api.DELETE("/api/v1/chat/feedback/{base_id}/{run_id}", { params: { path: { base_id, run_id } } }));
