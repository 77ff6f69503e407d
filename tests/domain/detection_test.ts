import { describe, expect, setDefaultTimeout, test } from "bun:test";
import * as fc from "fast-check";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detect, type Detection } from "../../domain/detection/detect.ts";
import { NOTHING_DETECTED } from "../../domain/detection/detection.ts";
import { isManifest } from "../../domain/detection/manifests.ts";

// Other test suites may keep the disk and the CPUs busy.
setDefaultTimeout(30_000);

const parser = new LibraryManifestParser();

type Files = Readonly<Record<string, string>>;

/** Runs `detect` on these files, with the contents of manifests only. */
function detected(files: Files): Detection {
  const paths = Object.keys(files).toSorted();
  const text = (path: string) => (isManifest(path) && Object.hasOwn(files, path) ? files[path] : undefined);
  return detect({ paths, text, data: (path) => parser.parse(path, text(path) ?? "") });
}

/**
 * The facts that differ from an unrecognised project. Warnings have their own tests; versions and images have test
 * cases.
 */
function facts(files: Files): Partial<Detection> {
  const {
    warnings: _,
    image: _image,
    languageVersion: _version,
    packageManagerVersion: _manager,
    ...found
  } = detected(files);
  const entries = Object.entries(found).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(NOTHING_DETECTED[key as keyof Detection]),
  );
  return Object.fromEntries(entries);
}

const json = (value: unknown) => JSON.stringify(value);
const pkg = (dependencies: readonly string[], rest: object = {}) =>
  json({ name: "app", dependencies: Object.fromEntries(dependencies.map((name) => [name, "1.0.0"])), ...rest });

const CASES: readonly (readonly [what: string, files: Files, expected: Partial<Detection>])[] = [
  [
    "a Next.js app with pnpm",
    {
      "package.json": pkg(["next", "react"], { scripts: { build: "next build", start: "next start -p 4000" } }),
      "pnpm-lock.yaml": "",
      "tsconfig.json": "{}",
    },
    {
      language: "typescript",
      framework: "nextjs",
      packageManager: "pnpm",
      installCommand: "pnpm install --frozen-lockfile",
      buildCommand: "pnpm run build",
      startCommand: "pnpm run start",
      outputDirectory: ".next",
      port: 4000,
    },
  ],
  [
    "a Next.js app without scripts or lockfile",
    { "package.json": pkg(["next"]) },
    {
      language: "javascript",
      framework: "nextjs",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npx next build",
      startCommand: "npx next start",
      outputDirectory: ".next",
      port: 3000,
    },
  ],
  [
    "a Next.js app that is exported to files",
    {
      "package.json": pkg(["next"], { scripts: { build: "next build", start: "next start" } }),
      "next.config.mjs": "export default { output: 'export' };",
      "package-lock.json": "{}",
    },
    {
      language: "javascript",
      framework: "nextjs",
      packageManager: "npm",
      installCommand: "npm ci",
      buildCommand: "npm run build",
      outputDirectory: "out",
      projectType: "static",
    },
  ],
  [
    "a Nuxt app with yarn of today",
    {
      "package.json": pkg(["nuxt"], { packageManager: "yarn@4.1.0", scripts: { build: "nuxt build" } }),
      "yarn.lock": "",
      ".yarnrc.yml": "nodeLinker: node-modules\n",
    },
    {
      language: "javascript",
      framework: "nuxt",
      packageManager: "yarn",
      installCommand: "yarn install --immutable",
      buildCommand: "yarn run build",
      startCommand: "node .output/server/index.mjs",
      outputDirectory: ".output",
      port: 3000,
    },
  ],
  [
    "a Nuxt site that is generated",
    { "package.json": pkg(["nuxt"], { scripts: { build: "nuxt generate" } }), "yarn.lock": "" },
    {
      language: "javascript",
      framework: "nuxt",
      packageManager: "yarn",
      installCommand: "yarn install --frozen-lockfile",
      buildCommand: "yarn run build",
      outputDirectory: ".output/public",
      projectType: "static",
    },
  ],
  [
    "a SvelteKit app for Node",
    {
      "package.json": pkg([], {
        devDependencies: { "@sveltejs/kit": "2", "@sveltejs/adapter-node": "5", vite: "7", typescript: "5" },
        scripts: { build: "vite build" },
      }),
      "bun.lock": "",
    },
    {
      language: "typescript",
      framework: "sveltekit",
      packageManager: "bun",
      installCommand: "bun install --frozen-lockfile",
      buildCommand: "bun run build",
      startCommand: "node build",
      outputDirectory: "build",
      port: 3000,
    },
  ],
  [
    "a SvelteKit site of files",
    { "package.json": pkg([], { devDependencies: { "@sveltejs/kit": "2", "@sveltejs/adapter-static": "3" } }) },
    {
      language: "javascript",
      framework: "sveltekit",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npx vite build",
      outputDirectory: "build",
      projectType: "static",
    },
  ],
  [
    "an Astro site",
    { "package.json": pkg(["astro"], { scripts: { build: "astro build", start: "astro dev" } }), "bun.lockb": "" },
    {
      language: "javascript",
      framework: "astro",
      packageManager: "bun",
      installCommand: "bun install --frozen-lockfile",
      buildCommand: "bun run build",
      outputDirectory: "dist",
      projectType: "static",
    },
  ],
  [
    "an Astro server",
    { "package.json": pkg(["astro", "@astrojs/node"], { scripts: { build: "astro build" } }) },
    {
      language: "javascript",
      framework: "astro",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npm run build",
      startCommand: "HOST=0.0.0.0 node ./dist/server/entry.mjs",
      outputDirectory: "dist",
      port: 4321,
    },
  ],
  [
    "a Remix app",
    { "package.json": pkg(["@remix-run/node", "@remix-run/serve"], { scripts: { build: "remix vite:build" } }) },
    {
      language: "javascript",
      framework: "remix",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npm run build",
      startCommand: "npx remix-serve ./build/server/index.js",
      outputDirectory: "build",
      port: 3000,
    },
  ],
  [
    "a page built by Vite, with its own output folder",
    {
      "package.json": pkg(["react", "express"], {
        devDependencies: { vite: "7" },
        scripts: { build: "vite build", start: "vite" },
      }),
      "index.html": "",
      "src/main.ts": "",
      "vite.config.ts": "export default defineConfig({ build: { outDir: './www/' } })",
    },
    {
      language: "typescript",
      framework: "vite",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npm run build",
      outputDirectory: "www",
      projectType: "static",
    },
  ],
  [
    "a create-react-app page",
    {
      "package.json": pkg(["react-scripts"], {
        scripts: { start: "react-scripts start", build: "react-scripts build" },
      }),
      "public/index.html": "",
      "src/index.js": "",
    },
    {
      language: "javascript",
      framework: "create-react-app",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npm run build",
      outputDirectory: "build",
      projectType: "static",
    },
  ],
  [
    "an Express server by its main file",
    { "package.json": pkg(["express"], { main: "./lib/web.js" }), "lib/web.js": "", "package-lock.json": "" },
    {
      language: "javascript",
      framework: "express",
      packageManager: "npm",
      installCommand: "npm ci",
      startCommand: "node lib/web.js",
      port: 3000,
    },
  ],
  [
    "a Hono server on Bun",
    { "package.json": pkg(["hono"]), "bun.lock": "", "src/index.ts": "", "tsconfig.json": "{}" },
    {
      language: "typescript",
      framework: "hono",
      packageManager: "bun",
      installCommand: "bun install --frozen-lockfile",
      startCommand: "bun src/index.ts",
      port: 3000,
    },
  ],
  [
    "an Elysia server, which is Bun's without a lockfile too",
    { "package.json": pkg(["elysia"], { scripts: { start: "bun src/index.ts" } }), "src/index.ts": "" },
    {
      language: "typescript",
      framework: "elysia",
      packageManager: "bun",
      installCommand: "bun install",
      startCommand: "bun run start",
      port: 3000,
    },
  ],
  [
    "a Nest app",
    {
      "package.json": pkg(["@nestjs/core", "@nestjs/platform-express", "express"], {
        scripts: { build: "nest build", start: "nest start", "start:prod": "node dist/main" },
      }),
      "nest-cli.json": "{}",
    },
    {
      language: "javascript",
      framework: "nestjs",
      packageManager: "npm",
      installCommand: "npm install",
      buildCommand: "npm run build",
      startCommand: "npm run start:prod",
      port: 3000,
    },
  ],
  [
    "a plain program without dependencies",
    { "package.json": json({ name: "plain" }), "index.js": "" },
    { language: "javascript", packageManager: "npm", startCommand: "node index.js", port: 3000 },
  ],
  [
    "a plain program with a start script that names its port",
    { "package.json": json({ scripts: { start: "node server.js --port=8123" } }) },
    { language: "javascript", packageManager: "npm", startCommand: "npm run start", port: 8123 },
  ],
  [
    "a page with a package.json of tools",
    { "package.json": json({ devDependencies: { prettier: "3" } }), "index.html": "", "index.js": "" },
    {
      language: "javascript",
      packageManager: "npm",
      installCommand: "npm install",
      outputDirectory: ".",
      projectType: "static",
    },
  ],
  [
    "a Bun program without a package.json",
    { "bunfig.toml": "", "server.ts": "" },
    { language: "typescript", packageManager: "bun", startCommand: "bun server.ts", port: 3000 },
  ],
  [
    "a Deno program with tasks and comments",
    { "deno.jsonc": '{ // tasks\n "tasks": { "start": "deno run -A main.ts /* no comment */", }, }', "main.ts": "" },
    {
      language: "typescript",
      packageManager: "deno",
      installCommand: "deno cache main.ts",
      startCommand: "DENO_SERVE_ADDRESS=tcp:0.0.0.0:$PORT deno task start",
      port: 8000,
    },
  ],
  [
    "a Deno program without tasks",
    { "deno.json": "{}", "main.ts": "" },
    {
      language: "typescript",
      packageManager: "deno",
      installCommand: "deno cache main.ts",
      startCommand: "DENO_SERVE_ADDRESS=tcp:0.0.0.0:$PORT deno run -A main.ts",
      port: 8000,
    },
  ],
  [
    "a plain Python program",
    { "requirements.txt": "requests==2\n", "main.py": "print(1)" },
    {
      language: "python",
      packageManager: "pip",
      installCommand: "python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt",
      startCommand: ".venv/bin/python -u main.py",
      port: 8000,
    },
  ],
  [
    "a FastAPI app with uv",
    {
      "pyproject.toml": '[project]\ndependencies = ["fastapi[standard]>=0.115"]\n',
      "uv.lock": "",
      "app/main.py": "from fastapi import FastAPI\napi: FastAPI = FastAPI()\n",
    },
    {
      language: "python",
      framework: "fastapi",
      packageManager: "uv",
      installCommand: "uv sync --frozen --no-dev --no-install-project",
      startCommand: ".venv/bin/python -m uvicorn app.main:api --host 0.0.0.0 --port $PORT",
      port: 8000,
    },
  ],
  [
    "a Flask app with gunicorn",
    { "requirements.txt": "Flask\ngunicorn==22", "app.py": "server = Flask(__name__)" },
    {
      language: "python",
      framework: "flask",
      packageManager: "pip",
      installCommand: "python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt",
      startCommand: ".venv/bin/python -m gunicorn app:server --bind 0.0.0.0:$PORT",
      port: 5000,
    },
  ],
  [
    "a Django project beside a package.json of tools",
    {
      "package.json": json({ devDependencies: { tailwindcss: "4" } }),
      "requirements.txt": "django>=5\ngunicorn\n",
      "manage.py": "",
      "shop/wsgi.py": "",
    },
    {
      language: "python",
      framework: "django",
      packageManager: "pip",
      installCommand: "python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt",
      startCommand: ".venv/bin/python -m gunicorn shop.wsgi:application --bind 0.0.0.0:$PORT",
      port: 8000,
    },
  ],
  [
    "a Go program at the root",
    { "go.mod": "module example.com/x\nrequire github.com/gin-gonic/gin v1.9.0\n", "main.go": "" },
    {
      language: "go",
      framework: "gin",
      packageManager: "go",
      installCommand: "go mod download",
      buildCommand: "go build -o bin/app .",
      startCommand: "./bin/app",
      port: 8080,
    },
  ],
  [
    "a Go program under cmd",
    { "go.mod": "module x", "cmd/migrate/main.go": "", "cmd/server/main.go": "" },
    {
      language: "go",
      packageManager: "go",
      installCommand: "go mod download",
      buildCommand: "go build -o bin/app ./cmd/server",
      startCommand: "./bin/app",
      port: 8080,
    },
  ],
  [
    "pages at the root",
    { "index.html": "", "style.css": "" },
    { language: "html", projectType: "static", outputDirectory: "." },
  ],
  [
    "pages in public",
    { "public/index.html": "", "README.md": "" },
    { language: "html", projectType: "static", outputDirectory: "public" },
  ],
  [
    "a Dockerfile alone",
    { Dockerfile: "FROM scratch AS build\nEXPOSE 1\nFROM scratch\n  expose 8081/tcp 9\n" },
    { projectType: "docker", dockerfile: "Dockerfile", port: 8081 },
  ],
  [
    "a Dockerfile of a Node app",
    { Dockerfile: "FROM node\n", "package.json": pkg(["express"], { scripts: { start: "node ." } }) },
    {
      language: "javascript",
      framework: "express",
      packageManager: "npm",
      installCommand: "npm install",
      startCommand: "npm run start",
      port: 3000,
      projectType: "docker",
      dockerfile: "Dockerfile",
    },
  ],
  [
    "a compose file that builds",
    {
      "compose.yaml":
        'name: shop\n# all\nservices:\n  "web":\n    build:\n      context: ./web/ # here\n    ports: ["80:80"]\n  api: &api\n    build: .\n  db:\n    image: postgres\nvolumes:\n  data:\n',
      "web/Dockerfile": "",
    },
    {
      projectType: "services",
      composeFile: "compose.yaml",
      services: [
        { name: "web", rootDirectory: "web", port: 80 },
        { name: "api", rootDirectory: null },
        { name: "db", rootDirectory: null, image: "postgres" },
      ],
    },
  ],
  [
    "a compose file of images alone",
    { "docker-compose.yml": "services:\r\n  blog:\r\n    image: ghost\r\n" },
    {
      projectType: "services",
      composeFile: "docker-compose.yml",
      services: [{ name: "blog", rootDirectory: null, image: "ghost" }],
    },
  ],
  [
    "a compose file with a database for an app",
    {
      "docker-compose.yml": "services:\n  db:\n    image: postgres\n",
      "package.json": json({ scripts: { start: "node ." } }),
    },
    {
      language: "javascript",
      packageManager: "npm",
      startCommand: "npm run start",
      port: 3000,
      composeFile: "docker-compose.yml",
    },
  ],
  [
    "a Procfile",
    { Procfile: "# run\nweb: gunicorn wsgi --log-file -\nworker: celery\n", "requirements.txt": "gunicorn" },
    {
      language: "python",
      packageManager: "pip",
      installCommand: "python3 -m venv .venv && .venv/bin/python -m pip install -r requirements.txt",
      startCommand: 'export PATH="$PWD/.venv/bin:$PATH"; gunicorn wsgi --log-file -',
      port: 3000,
    },
  ],
  [
    "variables of an example",
    {
      "index.html": "",
      ".env.example":
        "# comment\nDATABASE_URL=\nexport API_KEY='your-key' # secret\nPORT=3000\nEMPTY=\"\"\nPORT=\nNAME=a#b\nbroken\n",
    },
    {
      language: "html",
      projectType: "static",
      outputDirectory: ".",
      env: [
        { key: "DATABASE_URL", required: true },
        { key: "API_KEY", required: true },
        { key: "PORT", required: false },
        { key: "EMPTY", required: true },
        { key: "NAME", required: false },
      ],
    },
  ],
  [
    "a project one folder down",
    { "README.md": "", "my-app/package.json": json({ scripts: { start: "node ." } }), "my-app/yarn.lock": "" },
    {
      language: "javascript",
      packageManager: "yarn",
      startCommand: "yarn run start",
      port: 3000,
      rootDirectory: "my-app",
    },
  ],
  [
    "the only app of a workspace, with the lockfile above",
    {
      "package.json": json({ workspaces: ["apps/*", "packages/*"], devDependencies: { vite: "7", turbo: "2" } }),
      "pnpm-lock.yaml": "",
      "apps/web/package.json": pkg(["next"]),
      "packages/ui/package.json": json({ name: "ui", dependencies: { react: "19" } }),
      "examples/demo/package.json": pkg(["next"]),
    },
    {
      language: "javascript",
      framework: "nextjs",
      packageManager: "pnpm",
      installCommand: "pnpm install --frozen-lockfile",
      buildCommand: "pnpm exec next build",
      startCommand: "pnpm exec next start",
      outputDirectory: ".next",
      port: 3000,
      rootDirectory: "apps/web",
    },
  ],
  [
    "several projects side by side",
    {
      "backend/go.mod": "module x",
      "backend/main.go": "",
      "backend/.env.example": "KEY=\n",
      "frontend/package.json": pkg(["vite"]),
      "frontend/index.html": "",
    },
    {
      projectType: "services",
      services: [
        { name: "backend", rootDirectory: "backend" },
        { name: "frontend", rootDirectory: "frontend" },
      ],
      env: [{ key: "KEY", required: true }],
    },
  ],
  ["nothing known", { "notes.txt": "" }, {}],
  ["nothing at all", {}, {}],
];

describe("detect()", () => {
  for (const [what, files, expected] of CASES) {
    test(`recognises ${what}`, () => {
      expect(facts(files)).toEqual(expected);
    });
  }

  const WARNED: readonly (readonly [what: string, files: Files, sentence: string])[] = [
    [
      "a malformed package.json",
      { "package.json": "{ nope", "public/index.html": "" },
      "Cannot read package.json: in line 1 a name is not in double quotes",
    ],
    ["a package.json that is a list", { "package.json": "[]" }, "Cannot read package.json: it is not a JSON object"],
    ["a malformed deno.json", { "deno.json": "{ nope", "main.ts": "" }, "Cannot read deno.json"],
    [
      "two lockfiles",
      { "package.json": pkg(["next"]), "yarn.lock": "", "package-lock.json": "" },
      "yarn.lock, package-lock.json",
    ],
    [
      "a lockfile of another manager",
      { "package.json": pkg(["next"], { packageManager: "pnpm@9.0.0" }), "yarn.lock": "" },
      "Cannot install from yarn.lock",
    ],
    ["a program without a start", { "package.json": pkg(["lodash"]) }, "Cannot tell how to start the project"],
    ["SvelteKit without an adapter", { "package.json": pkg(["@sveltejs/kit"]) }, "@sveltejs/adapter-node"],
    ["Django without gunicorn", { "manage.py": "", "requirements.txt": "django" }, "Add gunicorn"],
    ["several programs of Go", { "go.mod": "", "cmd/a/main.go": "", "cmd/b/main.go": "" }, "cmd/ has a, b"],
    ["a Procfile with workers", { Procfile: "web: a\nworker: b" }, "not worker"],
    [
      "a compose file of images beside an app",
      { "compose.yml": "services:\n  db:\n    image: x", "index.html": "" },
      "db of compose.yml",
    ],
    ["an environment file", { ".env": "SECRET=1", "index.html": "" }, "Cannot protect secrets"],
    ["TypeScript for Node", { "package.json": pkg(["express"]), "server.ts": "" }, "22.18"],
    ["an unknown project", { "notes.txt": "" }, "Cannot tell what this project is"],
  ];
  for (const [what, files, sentence] of WARNED) {
    test(`warns about ${what}`, () => {
      expect(detected(files).warnings.join("\n")).toContain(sentence);
    });
  }

  test("warns only about a package.json that could not be loaded", () => {
    const found = detect({ paths: ["package.json"], text: () => undefined, data: () => undefined });
    expect(found.warnings).toEqual([expect.stringContaining("too large or gone")]);
  });

  test("puts no unsafe name of the project into a command", () => {
    const evil = "x.js; touch evil";
    const files = {
      "package.json": pkg(["express"], { main: evil, packageManager: "npm; evil@1" }),
      [evil]: "",
      "cmd/$(evil)/main.go": "",
      "go.mod": "",
      "a b; evil/wsgi.py": "",
    };
    expect(json(detected(files))).not.toContain("evil");
  });

  test("accepts a package.json with fields of any wrong type", () => {
    const wrong = fc.oneof(
      fc.constant(null),
      fc.integer(),
      fc.string(),
      fc.array(fc.string()),
      fc.dictionary(fc.string(), fc.anything()),
    );
    const manifest = fc.record(
      {
        name: wrong,
        scripts: wrong,
        dependencies: wrong,
        devDependencies: wrong,
        main: wrong,
        workspaces: wrong,
        packageManager: wrong,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(manifest, (value) => {
        const found = detected({ "package.json": JSON.stringify(value), "index.js": "" });
        expect(found.language).toBe("javascript");
      }),
    );
  });

  test("never throws for any manifests, and is deterministic", () => {
    const names = fc.constantFrom(
      "package.json",
      "deno.jsonc",
      "requirements.txt",
      "pyproject.toml",
      "go.mod",
      "Dockerfile",
      "compose.yaml",
      "Procfile",
      ".env.example",
      "main.py",
      "app/package.json",
      "next.config.js",
      "index.html",
      "manage.py",
      "angular.json",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.constantFrom("services:\n", "services:\n  a:\n", "{", '"', "/*"),
    );
    fc.assert(
      fc.property(fc.dictionary(names, texts, { maxKeys: 8 }), (files) => {
        expect(detected(files)).toEqual(detected(files));
      }),
      { numRuns: 500 },
    );
  });
});

describe("isManifest()", () => {
  test("is true for files to be read, near the root and outside of third-party folders", () => {
    const read = [
      "package.json",
      "apps/web/package.json",
      "Dockerfile",
      "a/compose.yml",
      ".env.example",
      "vite.config.mts",
      "app/main.py",
    ];
    const unread = [
      "node_modules/x/package.json",
      "src/index.ts",
      ".env",
      "a/b/c/d/package.json",
      "tests/fixtures/package.json",
      ".git/config",
      "xpackage.json",
    ];
    expect(read.filter((path) => !isManifest(path))).toEqual([]);
    expect(unread.filter(isManifest)).toEqual([]);
  });
});
