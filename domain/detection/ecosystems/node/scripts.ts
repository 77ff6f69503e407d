import type { JsonObject } from "../../text/json_text.ts";
import { type NodePackage, scriptText } from "./package.ts";

/** Words before the program in a script. */
const BEFORE = /^(?:[A-Za-z_]\w*=\S*|cross-env|dotenv|--|npx|bunx|yarn|pnpm|exec|run-with-env|env-cmd)$/;
/** Programs that serve for development unless one of these words follows them. */
const DEVELOPMENT: Readonly<Record<string, readonly string[]>> = {
  astro: ["build", "preview"],
  craco: ["build"],
  docusaurus: ["build", "serve"],
  ember: ["build"],
  expo: ["export", "export:web", "serve"],
  gatsby: ["build", "serve"],
  hexo: ["generate"],
  medusa: ["build", "start"],
  next: ["build", "export", "start"],
  ng: ["build"],
  nitro: ["build", "preview"],
  nitropack: ["build", "preview"],
  nuxi: ["build", "generate", "preview", "start"],
  nuxt: ["build", "generate", "preview", "start"],
  nx: ["build", "exec", "run", "run-many", "start"],
  parcel: ["build"],
  quasar: ["build", "serve"],
  "react-app-rewired": ["build"],
  "react-router": ["build"],
  "react-scripts": ["build"],
  remix: ["build", "vite:build"],
  rsbuild: ["build", "preview"],
  rspress: ["build", "preview"],
  "start-storybook": [],
  storybook: ["build"],
  strapi: ["build", "start"],
  vinxi: ["build", "start"],
  vite: ["build", "preview"],
  vitepress: ["build", "preview", "serve"],
  "vue-cli-service": ["build"],
  vuepress: ["build"],
  waku: ["build", "start"],
  "webpack-dev-server": [],
};
/** Other commands that serve for development. */
const DEVELOPS =
  /^(?:webpack serve|turbo (?:run )?dev|node ace serve|nx run [^ ]{1,200}:serve|(?:tsc|tsup|tsdown|rollup|esbuild|webpack|nest start|eleventy|@11ty\/eleventy) (?:.* )?(?:-w|--watch|--serve)\b)/;
/** Programs that restart another one whenever a file changes. */
const WATCHER = /^(?:nodemon|node-dev|ts-node-dev|tsnd|tsx watch|node --watch|bun (?:run )?--(?:watch|hot))(?: |$)/;
/** Scripts that start all packages of a workspace at once. */
const FAN_OUT =
  /^(?:turbo (?:run )?(?:start|dev|serve)(?! .*--filter)|lerna run|nx run-many|pnpm (?:.* )?(?:-r|--recursive|--parallel)(?: |$)|npm (?:.* )?(?:--workspaces|-ws)(?: |$)|yarn workspaces (?:foreach|run)|bun (?:run )?--filter [*'"]|concurrently|npm-run-all|run-p|wsrun|ultra|moon)/;
const RUNS_PROGRAM = /^(?:node|bun|tsx|ts-node|deno|pm2-runtime|forever)(?: |$)/;

/** Removes what comes before the program in a script: variables, and words that only locate it. */
function bare(text: string): string {
  const words = text.slice(0, 2_000).trim().split(/\s+/);
  const first = words.findIndex((word) => !BEFORE.test(word));
  return first === -1 ? words.join(" ") : words.slice(first).join(" ");
}

/** Returns whether a script serves for development only. */
export function isForDevelopment(text: string): boolean {
  const script = bare(text);
  const [program = "", word = ""] = script.split(" ", 2);
  if (!Object.hasOwn(DEVELOPMENT, program)) return DEVELOPS.test(script);
  return !DEVELOPMENT[program]!.includes(word) || DEVELOPS.test(script);
}

/** The program that a script restarts on each change, as written. */
export function watchedProgram(text: string): string | undefined {
  return WATCHER.test(bare(text)) ? bare(text).split(" ").at(-1) : undefined;
}

/** Returns whether a script runs a program rather than a tool. */
export function runsProgram(text: string): boolean {
  return RUNS_PROGRAM.test(bare(text));
}

/** Returns whether a script starts every package of a workspace. */
export function startsAll(text: string): boolean {
  const plain = text.slice(0, 2_000).trim().replaceAll(/\s+/g, " ");
  return FAN_OUT.test(plain) || FAN_OUT.test(bare(text));
}

/** The command that runs a script; `undefined` when there is no such script. */
export function scriptCommand({ manifest, manager }: Pick<NodePackage, "manifest" | "manager">, name: string) {
  return scriptText(manifest, name) === undefined ? undefined : `${manager.run} ${name}`;
}

/** The name of the script that starts a project in production. */
export function startScript(manifest: JsonObject): string | undefined {
  const sure = ["start:prod", "start:production"].find((name) => scriptText(manifest, name) !== undefined);
  if (sure !== undefined) return sure;
  const start = scriptText(manifest, "start");
  if (start !== undefined && !isForDevelopment(start)) return "start";
  return ["prod", "production", "serve", "server"].find((name) => {
    const text = scriptText(manifest, name);
    return text !== undefined && runsProgram(text) && watchedProgram(text) === undefined;
  });
}

/** The port that a script sets. */
export function portIn(text: string | undefined): number | undefined {
  const found = /(?:--port|-p|\bPORT)[ =](\d{2,5})\b/.exec(text?.slice(0, 2_000) ?? "")?.[1];
  return found === undefined || Number(found) > 65_535 ? undefined : Number(found);
}
