import "./styles/app.css";
import "./lib/nonce";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { componentKeys } from "./api/queries/components";
import { templateKeys } from "./api/queries/templates";
import { createQueryClient } from "./app/queryClient";
import { createStudioRouter } from "./app/router";
import { TipProvider, Toasts } from "./components/ui";
import { i18next } from "./lib/i18n/i18n";

const queryClient = createQueryClient();
const router = createStudioRouter(queryClient);
// What the server says of components and templates is translated as it arrives.
i18next.on("languageChanged", () => {
  void queryClient.invalidateQueries({ queryKey: componentKeys.all });
  void queryClient.invalidateQueries({ queryKey: templateKeys.all });
});
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
