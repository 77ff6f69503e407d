import type { Ecosystem } from "../ecosystem.ts";
import { recipe } from "../image_recipe.ts";

const NAMES = ["start.sh", "run.sh", "server.sh", "entrypoint.sh", "main.sh"];

/** A script whose name says that it starts the project; the last resort. */
export const shell: Ecosystem = {
  manifests: NAMES,
  detect(folder) {
    const script = folder.first(NAMES);
    if (script === undefined) return undefined;
    const first = (folder.text(script) ?? "").split("\n", 1)[0] ?? "";
    const program = /^#![^\n]{0,100}\bbash\b/.test(first) ? "bash" : "sh";
    return {
      language: "shell",
      startCommand: `${program} ${script}`,
      port: 8080,
      image: recipe("debian:bookworm-slim", { runPackages: ["ca-certificates", "curl"] }),
      warnings: [
        `Cannot tell what ${script} needs: its image contains little more than a shell. Add a Dockerfile if it needs more`,
      ],
    };
  },
};
