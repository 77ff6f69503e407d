import type { Ecosystem } from "./ecosystem.ts";

const FOLDERS = [".", "public", "dist", "build", "www", "site", "_site"];

/** Pages that are served as they are. */
export const staticSite: Ecosystem = {
  manifests: [],
  detect(folder) {
    const output = FOLDERS.find((name) => folder.has(name === "." ? "index.html" : `${name}/index.html`));
    if (output === undefined) return undefined;
    return { language: "html", projectType: "static", outputDirectory: output };
  },
};
