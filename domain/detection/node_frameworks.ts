import type { Finding } from "./ecosystem.ts";
import { type JsonObject, memberOf, textOf } from "./json_text.ts";
import { dependsOn } from "./node_packages.ts";
import type { ProjectFolder } from "./project_folder.ts";

/** How projects of one Node framework are built and served. */
export interface NodeFramework {
  readonly name: string;
  /** Any of these among the dependencies makes it this framework. */
  readonly packages: readonly string[];
  /** `site` brings its own server or is served as files; `server` is a library that a program of the project uses. */
  readonly kind: "site" | "server";
  /** Served as files unless `refine` says otherwise. */
  readonly static?: boolean;
  /** Program of the framework that builds, for projects without a build script. */
  readonly build?: string;
  /** Program of the framework that serves, for projects without a start script. */
  readonly start?: string;
  /** Command that serves, unless the start script runs a program of the project's own. */
  readonly serve?: string;
  readonly output?: string;
  readonly port?: number;
  /** Facts that depend on the project; `exec` goes before a program of an installed package. */
  readonly refine?: (folder: ProjectFolder, manifest: JsonObject, exec: string) => Finding;
  /** Files of which one has to be there too. */
  readonly needs?: readonly string[];
}

const CONFIG_ENDINGS = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** The text of a configuration file whatever its ending, or an empty one. */
function config(folder: ProjectFolder, name: string): string {
  const path = folder.first(CONFIG_ENDINGS.map((ending) => `${name}.config.${ending}`));
  return path === undefined ? "" : (folder.text(path) ?? "");
}

function asFiles(outputDirectory: string): Finding {
  return { projectType: "static", outputDirectory, startCommand: null, port: null };
}

function next(folder: ProjectFolder): Finding {
  return /\boutput\s*:\s*["'`]export["'`]/.test(config(folder, "next")) ? asFiles("out") : {};
}

function nuxt(_folder: ProjectFolder, manifest: JsonObject): Finding {
  const build = textOf(memberOf(manifest, "scripts"), "build") ?? "";
  return /\bnux[it]i? generate\b/.test(build) ? asFiles(".output/public") : {};
}

function svelteKit(_folder: ProjectFolder, manifest: JsonObject, exec: string): Finding {
  if (dependsOn(manifest, "@sveltejs/adapter-static")) return asFiles("build");
  if (dependsOn(manifest, "@sveltejs/adapter-node")) return {};
  return {
    startCommand: `${exec} vite preview --host 0.0.0.0 --port $PORT`,
    outputDirectory: ".svelte-kit/output",
    warnings: [
      "Cannot find a SvelteKit adapter for servers: add @sveltejs/adapter-node; until then the preview serves",
    ],
  };
}

function astro(_folder: ProjectFolder, manifest: JsonObject): Finding {
  if (!dependsOn(manifest, "@astrojs/node")) return {};
  return { projectType: "app", startCommand: "node ./dist/server/entry.mjs", outputDirectory: "dist", port: 4321 };
}

function vite(folder: ProjectFolder): Finding {
  const named = /\boutDir\s*:\s*["'`]([\w@.][\w@./-]*)["'`]/.exec(config(folder, "vite"))?.[1];
  const output = named?.replace(/^\.\//, "").replace(/\/+$/, "");
  return output === undefined || output.split("/").includes("..") ? {} : { outputDirectory: output };
}

function angular(folder: ProjectFolder): Finding {
  const text = folder.text("angular.json") ?? "";
  const output = /"outputPath"\s*:\s*"([\w@][\w@./-]*)"/.exec(text)?.[1];
  if (output !== undefined) return { outputDirectory: output };
  const project = /"projects"\s*:\s*\{\s*"([\w@.-]+)"/.exec(text)?.[1];
  return project === undefined ? {} : { outputDirectory: `dist/${project}/browser` };
}

/** Every framework, the more telling ones first: the first one that fits is taken. */
export const NODE_FRAMEWORKS: readonly NodeFramework[] = [
  {
    name: "nextjs",
    packages: ["next"],
    kind: "site",
    build: "next build",
    start: "next start",
    output: ".next",
    port: 3000,
    refine: next,
  },
  {
    name: "nuxt",
    packages: ["nuxt", "nuxt3"],
    kind: "site",
    build: "nuxt build",
    serve: "node .output/server/index.mjs",
    output: ".output",
    port: 3000,
    refine: nuxt,
  },
  {
    name: "sveltekit",
    packages: ["@sveltejs/kit"],
    kind: "site",
    build: "vite build",
    serve: "node build",
    output: "build",
    port: 3000,
    refine: svelteKit,
  },
  {
    name: "remix",
    packages: ["@remix-run/serve", "@remix-run/node", "@remix-run/react", "@remix-run/dev"],
    kind: "site",
    build: "remix vite:build",
    start: "remix-serve ./build/server/index.js",
    output: "build",
    port: 3000,
  },
  {
    name: "react-router",
    packages: ["@react-router/dev"],
    kind: "site",
    build: "react-router build",
    start: "react-router-serve ./build/server/index.js",
    output: "build",
    port: 3000,
  },
  {
    name: "astro",
    packages: ["astro"],
    kind: "site",
    static: true,
    build: "astro build",
    output: "dist",
    refine: astro,
  },
  { name: "gatsby", packages: ["gatsby"], kind: "site", static: true, build: "gatsby build", output: "public" },
  {
    name: "docusaurus",
    packages: ["@docusaurus/core"],
    kind: "site",
    static: true,
    build: "docusaurus build",
    output: "build",
  },
  {
    name: "nestjs",
    packages: ["@nestjs/core"],
    kind: "site",
    build: "nest build",
    serve: "node dist/main.js",
    port: 3000,
  },
  { name: "elysia", packages: ["elysia"], kind: "server", port: 3000 },
  { name: "hono", packages: ["hono"], kind: "server", port: 3000 },
  { name: "express", packages: ["express"], kind: "server", port: 3000 },
  { name: "fastify", packages: ["fastify"], kind: "server", port: 3000 },
  { name: "koa", packages: ["koa"], kind: "server", port: 3000 },
  {
    name: "angular",
    packages: ["@angular/core"],
    kind: "site",
    static: true,
    build: "ng build",
    output: "dist",
    refine: angular,
  },
  {
    name: "create-react-app",
    packages: ["react-scripts"],
    kind: "site",
    static: true,
    build: "react-scripts build",
    output: "build",
  },
  {
    name: "vue-cli",
    packages: ["@vue/cli-service"],
    kind: "site",
    static: true,
    build: "vue-cli-service build",
    output: "dist",
  },
  { name: "eleventy", packages: ["@11ty/eleventy"], kind: "site", static: true, build: "eleventy", output: "_site" },
  {
    name: "vitepress",
    packages: ["vitepress"],
    kind: "site",
    static: true,
    build: "vitepress build",
    output: ".vitepress/dist",
  },
  {
    name: "vite",
    packages: ["vite"],
    needs: ["index.html"],
    kind: "site",
    static: true,
    build: "vite build",
    output: "dist",
    refine: vite,
  },
];
