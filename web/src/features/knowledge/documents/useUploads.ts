import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { addDocument, knowledgeKeys, type Metadata } from "@/api/queries/knowledge";
import { uploadFile } from "@/api/uploads";

export interface Upload {
  id: number;
  name: string;
  /** How much is sent, from 0 to 1. */
  part: number;
  error?: unknown;
}

let count = 0;

/** Sends files one after the other and adds them to a base; those that failed stay until they are dismissed. */
export function useUploads(baseId: string, metadata: Metadata | null) {
  const queryClient = useQueryClient();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const change = (id: number, more: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...more } : one)));
  const dismiss = (id: number) => setUploads((all) => all.filter((one) => one.id !== id));
  const send = async (id: number, file: File) => {
    try {
      const stored = await uploadFile(file, { onProgress: (part) => change(id, { part }) });
      await addDocument(baseId, stored.id, metadata);
      dismiss(id);
    } catch (error) {
      change(id, { error });
    }
    await queryClient.invalidateQueries({ queryKey: knowledgeKeys.documents(baseId) });
    await queryClient.invalidateQueries({ queryKey: knowledgeKeys.bases });
  };
  const add = async (files: readonly File[]) => {
    const waiting = files.map((file) => ({ id: ++count, name: file.name, part: 0, file }));
    setUploads((all) => [...all, ...waiting.map(({ id, name, part }) => ({ id, name, part }))]);
    for (const { id, file } of waiting) await send(id, file);
  };
  return { uploads, add, dismiss };
}
