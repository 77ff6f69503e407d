import type { Ecosystem, Finding } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";
import type { ProjectFolder } from "../project_folder.ts";

const FOLDERS = [".", "public", "dist", "build", "www", "site", "_site", "public_html", "htdocs", "src"];
const HUGO = ["hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"];

/** Pages that are served as they are, or written by Hugo. */
export const staticSite: Ecosystem = {
  manifests: [],
  detect(folder) {
    const generated = hugo(folder);
    if (generated !== undefined) return generated;
    // Whether a page beside a package.json is meant to be served is told by that.
    return folder.has("package.json") ? undefined : pagesIn(folder);
  },
};

/** The pages in a folder that are served as they are. */
export function pagesIn(folder: ProjectFolder): Finding | undefined {
  const output = FOLDERS.find((name) => folder.has(name === "." ? "index.html" : `${name}/index.html`));
  return output === undefined ? undefined : { language: "html", projectType: "static", outputDirectory: output };
}

function hugo(folder: ProjectFolder): Finding | undefined {
  const old =
    folder.first(["config.toml", "config.yaml", "config.yml"]) !== undefined && folder.hasFolder("archetypes");
  if (!old && folder.first(HUGO) === undefined && !folder.hasFolder("config/_default")) return undefined;
  return {
    language: "html",
    framework: "hugo",
    projectType: "static",
    buildCommand: "hugo --gc --minify",
    outputDirectory: "public",
    image: recipe("debian:bookworm-slim", { buildPackages: ["ca-certificates", "git", "hugo"], keep: ["public"] }),
  };
}
