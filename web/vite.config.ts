import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { widget } from "./vite.widget.ts";

/** Where `vite dev` sends what is not the page: a server started by `headgate serve`. */
const server = process.env.HEADGATE_URL ?? "http://127.0.0.1:7411";
const proxied = Object.fromEntries(
  [
    "/api",
    "/health",
    "/mcp",
    "/docs",
    "/openapi.json",
    "/v1",
    "/w/",
    "/forms/",
    "/widget.js",
    "/static-offline-docs",
  ].map((path) => [path, { target: server, changeOrigin: true, headers: { origin: server } }]),
);

export default defineConfig({
  plugins: [react(), tailwindcss(), widget()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  // The server puts a fresh value there for every answer; see entrypoints/http/studio.
  html: { cspNonce: "PAGE_NONCE" },
  server: { port: 5173, strictPort: true, proxy: proxied },
  build: {
    outDir: "../src/headgate/entrypoints/http/studio/built",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    manifest: true,
    // An icon is smaller than a request: those of several parts together, or half of a page's files are icons.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: "icons", test: /lucide-react/, minShareCount: 3 }] } },
    },
    chunkSizeWarningLimit: 700, // the code editor, which is loaded when the first is shown
  },
  test: {
    environment: "jsdom",
    setupFiles: ["./src/testing/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    testTimeout: 60_000, // longer than anything waits: what was missed says so, not that time was up
    pool: "threads",
    maxWorkers: 2,
    // Every file sets up what it needs and cleans up; to load everything anew for each took half of the time.
    isolate: false,
  },
});
