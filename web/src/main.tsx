import "./styles/app.css";
import "./lib/nonce";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./app/queryClient";
import { createStudioRouter } from "./app/router";
import { TipProvider, Toasts } from "./components/ui";

const queryClient = createQueryClient();
const router = createStudioRouter(queryClient);
const root = document.getElementById("root");

if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <TipProvider delayDuration={400}>
          <RouterProvider router={router} />
          <Toasts />
        </TipProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
