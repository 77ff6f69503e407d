import { memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { asFiles, configCode, type Refined } from "./framework.ts";
import { dependencyVersion, dependsOn, isMember, type NodePackage, scriptText } from "./package.ts";
import { runsProgram } from "./scripts.ts";
import { plainPath } from "../../plain_names.ts";
import { pathIn, settingIn } from "../../text/script_text.ts";

/** What all servers that Nitro builds have in common. */
export const NITRO = {
  serve: "node .output/server/index.mjs",
  output: ".output",
  alone: ".output",
  port: 3000,
} as const;

const PLATFORMS: Readonly<Record<string, string>> = {
  cloudflare: "Cloudflare",
  deno: "Deno Deploy",
  netlify: "Netlify",
  vercel: "Vercel",
};

/** Next.js: a server, the standalone server of `output: "standalone"`, or files. */
export function next(project: NodePackage): Refined {
  const { folder, manifest, manager } = project;
  const code = configCode(folder, "next");
  const folderOfBuild = pathIn(code, "distDir");
  const output = settingIn(code, "output");
  const build = `${scriptText(manifest, "build") ?? ""} ${scriptText(manifest, "postbuild") ?? ""}`;
  if (output === "export") return asFiles(folderOfBuild ?? "out");
  if (/\bnext export\b/.test(build)) return asFiles("out");
  const built = folderOfBuild ?? ".next";
  if (output !== "standalone" || manager.node !== "node") return { outputDirectory: built };
  const server = `${built}/standalone${placeInStandalone(project)}`;
  const copies = [`cp -r ${built}/static ${server}/${built}/`];
  if (folder.hasFolder("public")) copies.push(`cp -r public ${server}/`);
  return {
    outputDirectory: built,
    serve: `HOSTNAME=0.0.0.0 node ${server}/server.js`,
    alone: `${built}/standalone`,
    afterBuild: build.includes("standalone") ? [] : copies,
  };
}

/** The standalone server is as deep in its folder as the package is in its workspace. */
function placeInStandalone(project: NodePackage): string {
  const { folder, manager, workspace } = project;
  if (!isMember(project) || manager.lockfile === undefined) return "";
  const { path } = workspace!.root;
  return `/${path === "" ? folder.path : folder.path.slice(path.length + 1)}`;
}

/** Nuxt: a Nitro server, or files; Nuxt 2 has its own server. */
export function nuxt({ folder, manifest, manager }: NodePackage): Refined {
  const generates = /\bnux[it]i? generate\b/.test(scriptText(manifest, "build") ?? "");
  if (/^[\^~=v]*2\b/.test(dependencyVersion(manifest, "nuxt") ?? "")) {
    if (generates) return asFiles("dist");
    return { serve: `HOST=0.0.0.0 ${manager.exec} nuxt start`, outputDirectory: ".nuxt", alone: undefined };
  }
  const code = configCode(folder, "nuxt");
  return generates || settingIn(code, "preset") === "static" ? asFiles(".output/public") : {};
}

/** SvelteKit, depending on its adapter. */
export function svelteKit({ folder, manifest, manager }: NodePackage): Refined {
  const code = configCode(folder, "svelte");
  const imported = /["'`](@sveltejs\/adapter-[a-z-]{1,30}|svelte-adapter-bun)["'`]/.exec(code)?.[1];
  const known = ["static", "node", "auto"].map((name) => `@sveltejs/adapter-${name}`);
  const adapter = imported ?? [...known, "svelte-adapter-bun"].find((name) => dependsOn(manifest, name));
  const output = pathIn(code, "out") ?? "build";
  switch (adapter) {
    case "@sveltejs/adapter-static":
      return asFiles(pathIn(code, "pages") ?? "build");
    case "@sveltejs/adapter-node":
      return { serve: `${manager.node} ${output}`, outputDirectory: output };
    case "svelte-adapter-bun":
      return { serve: `bun ${output}/index.js`, outputDirectory: output };
    case "@sveltejs/adapter-auto":
      return {
        serve: `${manager.node} build`,
        // With this variable, the adapter installs and uses the one for Node.
        buildVariable: "GCP_BUILDPACKS=1",
        warnings: [
          "Cannot tell from adapter-auto where SvelteKit will run: it is built for Node. Use @sveltejs/adapter-node to be sure of its version",
        ],
      };
    default:
      return {
        serve: `${manager.exec} vite preview --host 0.0.0.0 --port $PORT`,
        outputDirectory: ".svelte-kit/output",
        warnings: [
          "Cannot find a SvelteKit adapter for servers: add @sveltejs/adapter-node; until then the preview serves, which refuses most host names",
        ],
      };
  }
}

/** Astro: files, or a server with the Node adapter. */
export function astro({ folder, manifest, manager }: NodePackage): Refined {
  const code = configCode(folder, "astro");
  const output = pathIn(code, "outDir") ?? "dist";
  if (dependsOn(manifest, "@astrojs/node")) {
    const server: Refined = { projectType: "app", outputDirectory: output, port: 4321 };
    const isMiddleware = settingIn(code, "mode") === "middleware";
    if (!isMiddleware) return { ...server, serve: `HOST=0.0.0.0 ${manager.node} ./${output}/server/entry.mjs` };
    if (runsProgram(scriptText(manifest, "start") ?? "")) return server;
    return {
      ...server,
      startCommand: null,
      warnings: ['Cannot start Astro in the mode "middleware": add a start script that runs your server'],
    };
  }
  const platform = Object.keys(PLATFORMS).find((name) => dependsOn(manifest, `@astrojs/${name}`));
  const files = { outputDirectory: output };
  if (settingIn(code, "output") !== "server") return files;
  const why = platform === undefined ? "it has no adapter" : `it is built for ${PLATFORMS[platform]}`;
  return { ...files, projectType: "app", warnings: [`Cannot start Astro as a server: ${why}. Use @astrojs/node`] };
}

/** Remix: a server, or files. */
export function remix({ folder }: NodePackage): Refined {
  return isWithoutServer(configCode(folder, "vite")) ? asFiles("build/client") : {};
}

/** React Router as a framework: a server, or files. */
export function reactRouter({ folder, manifest }: NodePackage): Refined {
  const code = configCode(folder, "react-router");
  const output = pathIn(code, "buildDirectory") ?? "build";
  if (isWithoutServer(code)) return asFiles(`${output}/client`);
  const missing = !dependsOn(manifest, "@react-router/serve") && scriptText(manifest, "start") === undefined;
  const warnings = ["Cannot find what serves React Router: add @react-router/serve, or a start script"];
  return { outputDirectory: output, ...(missing && { warnings }) };
}

function isWithoutServer(code: string): boolean {
  return /\bssr\s*:\s*false\b/.test(code);
}

/** TanStack Start: a server by Nitro, formerly by Vinxi, or files. */
export function tanstackStart({ folder, manifest, manager }: NodePackage): Refined {
  const code = configCode(folder, "vite");
  const nitro = ["nitro", "nitropack", "@tanstack/nitro-v2-vite-plugin", "vinxi"].some((name) =>
    dependsOn(manifest, name),
  );
  if (/\bspa\s*:\s*\{[^}]{0,200}\benabled\s*:\s*true\b/.test(code))
    return asFiles(nitro ? ".output/public" : "dist/client");
  if (nitro) return { serve: NITRO.serve, alone: NITRO.alone, outputDirectory: NITRO.output };
  return {
    serve: `${manager.exec} vite preview --host 0.0.0.0 --port $PORT`,
    outputDirectory: "dist",
    warnings: scriptRunsProgram(manifest)
      ? []
      : [
          "Cannot find what serves TanStack Start: add nitro; until then the preview serves, which refuses most host names",
        ],
  };
}

function scriptRunsProgram(manifest: NodePackage["manifest"]): boolean {
  return runsProgram(scriptText(manifest, "start") ?? "");
}

/** AdonisJS: the program of its build, which is in `bin` since version 6. */
export function adonis({ manifest, manager }: NodePackage): Refined {
  const old = /^[\^~=v]*5\b/.test(dependencyVersion(manifest, "@adonisjs/core") ?? "");
  return { serve: `HOST=0.0.0.0 ${manager.node} build/${old ? "" : "bin/"}server.js` };
}

/** NestJS, whose monorepo mode builds into a folder named after the application. */
export function nest({ folder, manager }: NodePackage): Refined {
  const settings = objectOf(folder.data("nest-cli.json"));
  const root = settings?.["monorepo"] === true ? plainPath(textOf(settings, "root")) : undefined;
  return { serve: `${manager.node} dist/${root === undefined ? "" : `${root}/`}main.js` };
}

/** Expo for the web: files, or a server that renders routes. */
export function expo({ folder, manifest, manager }: NodePackage): Refined {
  const web = memberOf(memberOf(objectOf(folder.data("app.json")), "expo"), "web");
  if (!dependsOn(manifest, "react-native-web")) {
    return {
      projectType: "app",
      buildCommand: null,
      outputDirectory: null,
      warnings: ["Cannot build this for the web: run `npx expo install react-dom react-native-web` first"],
    };
  }
  if (textOf(web, "output") !== "server") return asFiles("dist");
  return { projectType: "app", serve: `${manager.exec} expo serve --port $PORT`, outputDirectory: "dist", port: 8081 };
}
