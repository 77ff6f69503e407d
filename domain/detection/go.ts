import type { Ecosystem } from "./ecosystem.ts";
import type { ProjectFolder } from "./project_folder.ts";

const FRAMEWORKS: readonly (readonly [module: string, name: string])[] = [
  ["github.com/gin-gonic/gin", "gin"],
  ["github.com/labstack/echo", "echo"],
  ["github.com/gofiber/fiber", "fiber"],
  ["github.com/go-chi/chi", "chi"],
];
const PREFERRED = ["server", "api", "web", "app"];

/** Modules of Go with a program at their root or under `cmd/`. */
export const go: Ecosystem = {
  manifests: ["go.mod"],
  detect(folder) {
    if (!folder.has("go.mod")) return undefined;
    const module = folder.text("go.mod") ?? "";
    const { program, warnings } = programOf(folder);
    return {
      language: "go",
      framework: FRAMEWORKS.find(([name]) => module.includes(name))?.[1] ?? null,
      packageManager: "go",
      installCommand: "go mod download",
      buildCommand: program === undefined ? null : `go build -o bin/app ${program}`,
      startCommand: program === undefined ? null : "./bin/app",
      port: 8080,
      warnings,
    };
  },
};

function programOf(folder: ProjectFolder): { readonly program?: string; readonly warnings: readonly string[] } {
  if (folder.has("main.go")) return { program: ".", warnings: [] };
  const commands = folder.files().flatMap((path) => /^cmd\/([A-Za-z0-9][\w-]*)\/main\.go$/.exec(path)?.[1] ?? []);
  const chosen = PREFERRED.find((name) => commands.includes(name)) ?? commands[0];
  if (chosen === undefined) {
    return { warnings: ["Cannot tell what to build: there is no main.go here or under cmd/. Set the build command"] };
  }
  if (commands.length === 1) return { program: `./cmd/${chosen}`, warnings: [] };
  const all = commands.join(", ");
  return { program: `./cmd/${chosen}`, warnings: [`Cannot be sure what to start: cmd/ has ${all}. ${chosen} is used`] };
}
