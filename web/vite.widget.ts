import { join, resolve } from "node:path";
import { build, type Plugin } from "vite";

const ENTRIES = { widget: "src/widget/loader.ts", frame: "src/widget/frame.ts" };

/**
 * Builds the two scripts of the widget beside the page, each whole in one file of a fixed name: outside pages name the
 * one, and the frame that the other draws shares nothing with the studio.
 */
export function widget(): Plugin {
  let outDir = "";
  return {
    name: "headgate-widget",
    apply: "build",
    configResolved(config) {
      outDir = resolve(config.root, config.build.outDir, "widget");
    },
    async closeBundle(error?: Error) {
      if (error) return;
      for (const [name, entry] of Object.entries(ENTRIES)) {
        await build({
          configFile: false,
          publicDir: false,
          logLevel: "warn",
          build: {
            outDir,
            emptyOutDir: name === "widget",
            target: "es2022",
            reportCompressedSize: false,
            rollupOptions: {
              input: join(import.meta.dirname, entry),
              output: { entryFileNames: `${name}.js`, format: name === "widget" ? "iife" : "es" },
            },
          },
        });
      }
    },
  };
}
