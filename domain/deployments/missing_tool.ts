/** The exit code of a shell that did not find a command. */
const NOT_FOUND = 127;
const NAME = "([A-Za-z0-9_./@+-]+)";
/** Error messages of shells, `env` and `make` about a command that they do not find. */
const SAYINGS = [
  new RegExp(`^[^\\s:]+: (?:line )?(?:\\d+: )?(?:exec: )?${NAME}: (?:command )?not found$`),
  new RegExp(`^[^\\s:]+:(?:\\d+:)? command not found: ${NAME}$`),
  new RegExp(`^(?:\\S*/)?env: (?:can't execute )?['"‘]${NAME}['"’]: No such file or directory$`),
  new RegExp(`^make(?:\\[\\d+\\])?: ${NAME}: No such file or directory$`),
];
const COLOURS = /\p{Cc}\[[\d;]*m/gu;
/** Printed by programs that exit with their own code when a command of theirs was not found. */
const PASSED_ON = /\b(?:code|Error) 127\b/;

/** Display names of the languages and package managers that detection supports. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ["bun", "Bun"],
  ["bunx", "Bun"],
  ["bundle", "Bundler, which comes with Ruby,"],
  ["cabal", "Cabal, which builds Haskell,"],
  ["cargo", "Rust"],
  ["clojure", "Clojure"],
  ["cmake", "CMake"],
  ["composer", "Composer"],
  ["crystal", "Crystal"],
  ["dart", "Dart"],
  ["deno", "Deno"],
  ["dotnet", "the .NET SDK"],
  ["elixir", "Elixir"],
  ["flutter", "Flutter"],
  ["g++", "a C++ compiler"],
  ["gcc", "a C compiler"],
  ["gem", "Ruby"],
  ["gleam", "Gleam"],
  ["go", "Go"],
  ["gradle", "Gradle"],
  ["hugo", "Hugo"],
  ["java", "Java"],
  ["lein", "Leiningen"],
  ["make", "make"],
  ["meson", "Meson"],
  ["mix", "Elixir"],
  ["mvn", "Maven"],
  ["ninja", "Ninja"],
  ["node", "Node.js"],
  ["npm", "npm, which comes with Node.js,"],
  ["npx", "npx, which comes with Node.js,"],
  ["pdm", "PDM"],
  ["php", "PHP"],
  ["pip", "pip, which comes with Python,"],
  ["pip3", "pip, which comes with Python,"],
  ["pipenv", "Pipenv"],
  ["pnpm", "pnpm"],
  ["poetry", "Poetry"],
  ["python", "Python"],
  ["python3", "Python"],
  ["ruby", "Ruby"],
  ["sbt", "sbt, which builds Scala,"],
  ["shards", "Crystal"],
  ["stack", "Stack, which builds Haskell,"],
  ["swift", "Swift"],
  ["uv", "uv"],
  ["yarn", "Yarn"],
  ["zig", "Zig"],
]);

/** Finds the missing command by the exit code and the last lines of output; `undefined` if that was not the reason. */
export function missingTool(lines: readonly string[], code: number | null): string | undefined {
  const plain = lines.map((line) => line.replaceAll(COLOURS, "").trim());
  if (code !== NOT_FOUND && !plain.some((line) => PASSED_ON.test(line))) return undefined;
  for (const line of plain.toReversed()) {
    for (const saying of SAYINGS) {
      const [, tool] = saying.exec(line) ?? [];
      if (tool !== undefined) return tool;
    }
  }
  return undefined;
}

/** What called the missing command, and where. */
export interface ToolCall {
  readonly where: "machine" | "image";
  /** How a message refers to the caller, such as "its start command". */
  readonly caller: string;
}

/** Returns why a command was not found and what to do, as the rest of a sentence. */
export function toolAdvice(tool: string, { where, caller }: ToolCall): string {
  const calls = `${caller} calls ${tool}, which`;
  if (tool.includes("/")) return `${calls} is not there. Correct the command, or add the file`;
  const name = TOOLS.get(tool);
  if (name === undefined) {
    const [place, other] =
      where === "machine" ? ["installed", "install it on this machine"] : ["in its image", "to the image"];
    return `${calls} is not ${place}. Add ${tool} to the dependencies of the project, or ${other}`;
  }
  if (where === "image") return `${name} is not in its image. Add it there, or start something that is`;
  const docker = 'let Docker build this: set the runtime of the project to "docker"';
  return `${name} is not installed on this machine. Install it, or ${docker}`;
}
