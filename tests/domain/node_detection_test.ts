import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { codeOf, pathIn, settingIn } from "../../domain/detection/text/script_text.ts";
import {
  isForDevelopment,
  startScript,
  startsAll,
  watchedProgram,
} from "../../domain/detection/ecosystems/node/scripts.ts";
import { ProjectFolder } from "../../domain/detection/project_folder.ts";
import { workspaceMembers } from "../../domain/detection/ecosystems/node/workspace.ts";
import { plainPackage, plainPath } from "../../domain/detection/plain_names.ts";
import { detectedIn, type Files } from "../support/inputs/every_manifest.ts";

const json = (value: unknown) => JSON.stringify(value);

/** The members of a workspace with these patterns, where every folder contains a package. */
function members(patterns: readonly string[], folders: readonly string[]): string[] {
  const files: Record<string, unknown> = { "package.json": { workspaces: patterns } };
  for (const folder of folders) files[`${folder}/package.json`] = {};
  const data = (path: string) => files[path];
  return workspaceMembers(new ProjectFolder({ paths: Object.keys(files).toSorted(), text: () => undefined, data }));
}

describe("isForDevelopment()", () => {
  const DEVELOPING = [
    "vite",
    "vite --host",
    "npx vite dev",
    "cross-env NODE_ENV=development next dev -p 3000",
    "PORT=3000 react-scripts start",
    "ng serve --open",
    "nx run web:serve",
    "nuxt",
    "astro dev",
    "webpack serve --mode development",
    "tsc --watch",
    "eleventy --serve",
    "node ace serve --hmr",
    "turbo run dev",
    "nest start --watch",
    "pnpm exec expo start",
  ];
  const SERVING = [
    "next start",
    "vite preview",
    "node server.js",
    "NODE_ENV=production node dist/main",
    "nest start",
    "nuxt start",
    "vinxi start",
    "remix-serve ./build/server/index.js",
    "strapi start",
    "node vite.js",
    "tsx src/index.ts",
    "docusaurus serve",
  ];
  test("is true for scripts that serve during development only", () => {
    expect(DEVELOPING.filter((script) => !isForDevelopment(script))).toEqual([]);
  });
  test("is false for scripts that serve users", () => {
    expect(SERVING.filter(isForDevelopment)).toEqual([]);
  });
});

describe("startScript()", () => {
  test("prefers the production script, and skips scripts for development", () => {
    expect(startScript({ scripts: { start: "nest start", "start:prod": "node dist/main" } })).toBe("start:prod");
    expect(startScript({ scripts: { start: "vite", serve: "node server.js" } })).toBe("serve");
    expect(startScript({ scripts: { start: "vite", serve: "vite preview" } })).toBeUndefined();
    expect(startScript({ scripts: { serve: "nodemon server.js" } })).toBeUndefined();
  });
});

describe("watchedProgram()", () => {
  test("returns the program that is restarted on each change", () => {
    expect(watchedProgram("nodemon --inspect ./bin/www.js")).toBe("./bin/www.js");
    expect(watchedProgram("tsx watch src/index.ts")).toBe("src/index.ts");
    expect(watchedProgram("node --watch server.js")).toBe("server.js");
    expect(watchedProgram("node server.js")).toBeUndefined();
  });
});

describe("startsAll()", () => {
  test("distinguishes a script that starts a whole workspace from one that starts a part of it", () => {
    const all = ["turbo run start", "turbo start", "lerna run start", "pnpm -r start", "npm start --workspaces"];
    const one = ["turbo run start --filter=web", "pnpm --filter api start", "npm start -w api", "node server.js"];
    expect(all.filter((script) => !startsAll(script))).toEqual([]);
    expect(one.filter(startsAll)).toEqual([]);
  });
});

describe("workspaceMembers()", () => {
  const FOLDERS = ["apps/web", "apps/docs", "libs/a/core", "libs/b", "one", "node_modules/x", "apps/web/inner"];
  const CASES: readonly (readonly [patterns: readonly string[], found: readonly string[]])[] = [
    [["apps/*"], ["apps/docs", "apps/web"]],
    [
      ["./one/", "libs/**"],
      ["libs/a/core", "libs/b", "one"],
    ],
    [["apps/w*b"], ["apps/web"]],
    [
      ["**", "!apps/**"],
      ["libs/a/core", "libs/b", "one"],
    ],
    [["apps/*", "!**/docs"], ["apps/web"]],
    [["../*", "/etc", "*/../*", ""], []],
  ];
  for (const [patterns, found] of CASES) {
    test(`finds what ${json(patterns)} means`, () => expect(members(patterns, FOLDERS)).toEqual([...found]));
  }

  test("is fast for repeated patterns that match everything", () => {
    const folders = Array.from({ length: 5_000 }, (_, at) => `a${at % 50}/b${at % 500}/c${at}`);
    const patterns = Array.from({ length: 1_000 }, (_, at) => `${"**/".repeat(at % 20)}*a*a*a*a*b`);
    expect(members(patterns, folders)).toEqual([]);
    expect(members(["**"], folders).length).toBeLessThanOrEqual(200);
  });
});

describe("codeOf()", () => {
  test("removes comments, but nothing inside strings", () => {
    const code = codeOf(`a: "//x" // one\n/* two\n */ b: 'it\\'s /* not */' + \`/* nor\n// this */\` // three`);
    expect(code).toBe(`a: "//x"  \n  b: 'it\\'s /* not */' + \`/* nor\n// this */\`  `);
  });

  test("finds settings in the remaining code", () => {
    const code = codeOf(
      `{ /* output: "export" */ output: 'standalone', distDir: "./build/", evil: "../x", bad: "a b" }`,
    );
    expect(settingIn(code, "output")).toBe("standalone");
    expect(pathIn(code, "distDir")).toBe("build");
    expect(pathIn(code, "evil")).toBeUndefined();
    expect(pathIn(code, "bad")).toBeUndefined();
  });
});

describe("plainPath()", () => {
  test("accepts only paths inside of the project, and normalizes them", () => {
    expect(["./dist/", "a/b.c", ".next", "@x/y"].map(plainPath)).toEqual(["dist", "a/b.c", ".next", "@x/y"]);
    for (const evil of ["..", "a/../b", "/etc", "a//b", "a b", "a;b", "$(a)", "-rf", ".", "", "a\nb", "a`b`"])
      expect([evil, plainPath(evil)]).toEqual([evil, undefined]);
  });
});

describe("plainPackage()", () => {
  test("accepts package names that are safe in a shell", () => {
    expect(["web", "@acme/web.ui"].map(plainPackage)).toEqual(["web", "@acme/web.ui"]);
    for (const evil of ["a b", "@a/b/c", "-x", "a;b", "$(a)", "", "@/a"]) expect(plainPackage(evil)).toBeUndefined();
  });
});

const EVIL = "x; touch evil $(evil) `evil`";
const EVIL_PROJECTS: readonly Files[] = [
  {
    "package.json": json({ dependencies: { "@angular/core": "1" }, scripts: { build: "ng build" } }),
    "angular.json": json({
      projects: {
        [EVIL]: { architect: { build: { options: { outputPath: EVIL, ssr: true, outputMode: "server" } } } },
      },
    }),
  },
  {
    "package.json": json({ devDependencies: { "@sveltejs/kit": "2" } }),
    "svelte.config.js": `import a from "@sveltejs/adapter-node"; a({ out: "${EVIL}", pages: "../evil" })`,
  },
  {
    "package.json": json({ dependencies: { vitepress: "1" }, scripts: { [`${EVIL} `]: `vitepress build ${EVIL}` } }),
  },
  {
    "package.json": json({ devDependencies: { vite: "7" }, scripts: { build: `vite build --outDir ${EVIL}` } }),
    "vite.config.ts": `export default { build: { outDir: "${EVIL}" } }`,
    "index.html": "",
  },
  {
    "package.json": json({ name: EVIL, devDependencies: { nx: "21" } }),
    "nx.json": "{}",
    "apps/web/project.json": json({
      name: EVIL,
      projectType: "application",
      targets: { build: { executor: EVIL, options: { outputPath: EVIL, target: "node" } } },
    }),
  },
  {
    "package.json": json({
      workspaces: ["apps/*", "libs/*"],
      devDependencies: { turbo: "2" },
      packageManager: `pnpm@${EVIL}`,
    }),
    "turbo.json": "{}",
    "pnpm-lock.yaml": `lockfileVersion: '${EVIL}'`,
    "apps/web/package.json": json({
      name: EVIL,
      main: EVIL,
      scripts: { build: "x", start: "node ." },
      dependencies: { [EVIL]: "1" },
    }),
    [`libs/${EVIL}/package.json`]: json({ name: EVIL, scripts: { build: "x" } }),
  },
  {
    "deno.json": json({ deploy: { entrypoint: EVIL }, tasks: { [EVIL]: EVIL } }),
    [EVIL]: "",
    "main.ts": "",
    ".dvmrc": EVIL,
  },
  { "bunfig.toml": "", "index.ts": "", ".bun-version": EVIL },
  {
    "package.json": json({
      engines: { node: EVIL, bun: EVIL, yarn: EVIL },
      volta: { node: EVIL, yarn: EVIL },
      devEngines: { runtime: [{ name: "node", version: EVIL }], packageManager: { name: EVIL, version: EVIL } },
      dependencies: { "@nestjs/core": "11", prisma: "1" },
      prisma: { schema: EVIL },
    }),
    ".nvmrc": EVIL,
    ".node-version": EVIL,
    ".yarnrc.yml": `yarnPath: .yarn/releases/yarn-${EVIL}.cjs\nnodeLinker: ${EVIL}`,
    "nest-cli.json": json({ monorepo: true, root: EVIL }),
    "schema.prisma": `url = env("${EVIL}")`,
    [`patches/${EVIL}`]: "",
  },
];

describe("detect()", () => {
  test("puts no unsafe name of a JavaScript project into a command or an image", () => {
    for (const files of EVIL_PROJECTS) {
      const { warnings: _, ...found } = detectedIn(files);
      expect(json(found)).not.toContain("evil");
    }
  });

  test("accepts workspaces, versions and settings of any wrong type", () => {
    const wrong = fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.array(fc.string()), fc.jsonValue());
    const object = fc.dictionary(
      fc.constantFrom("node", "packages", "name", "runtime", "packageManager", "build"),
      wrong,
    );
    const value = fc.oneof(wrong, object, fc.array(object));
    const keys = ["workspaces", "engines", "volta", "devEngines", "packageManager", "scripts", "prisma", "name", "nx"];
    const manifest = fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });
    fc.assert(
      fc.property(manifest, manifest, value, (root, member, other) => {
        const files = {
          "package.json": json(root),
          "apps/web/package.json": json(member),
          "pnpm-workspace.yaml": json({ packages: other }),
          "lerna.json": json({ packages: other }),
          "nx.json": json(other),
          "deno.json": json({ workspace: other, tasks: other, imports: other }),
          "angular.json": json({ projects: other }),
          "apps/web/project.json": json({ projectType: "application", targets: other }),
        };
        expect(detectedIn(files)).toEqual(detectedIn(files));
      }),
      { numRuns: 100 },
    );
  });

  test("finds the app among a thousand packages", () => {
    const files: Record<string, string> = {
      "package.json": json({ private: true, workspaces: ["packages/*", "apps/*"], devDependencies: { turbo: "2" } }),
      "package-lock.json": "{}",
      "turbo.json": "{}",
      "apps/web/package.json": json({
        name: "web",
        scripts: { build: "next build" },
        dependencies: { next: "16", p1: "*" },
      }),
    };
    for (let at = 0; at < 1_000; at++)
      files[`packages/p${at}/package.json`] = json({ name: `p${at}`, dependencies: { [`p${(at + 1) % 1_000}`]: "*" } });
    expect(detectedIn(files).buildCommand).toBe("cd ../.. && npx turbo run build --filter=web");
  });
});
