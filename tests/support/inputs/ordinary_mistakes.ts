import { type Files, SourceFolder, TestProject } from "../apps/deploying.ts";
import type { SlipwayProcess } from "../servers/slipway_process.ts";
import { testPort } from "../servers/test_port.ts";

type Mistake = (slipway: SlipwayProcess) => Promise<string>;
type Settings = Readonly<Record<string, unknown>>;

const STARTED = { startCommand: "bun server.js" };

/** Returns the error message of a deployment of these files. */
function deploying(files: Files, settings: Settings = {}): Mistake {
  return async (slipway) => {
    await using source = await SourceFolder.of(files);
    const name = crypto.randomUUID();
    const project = await TestProject.create(slipway, { name, localPath: source.path, ...settings });
    const { status, error } = await project.settled(await project.deploy());
    return status === "failed" ? error.message : `It does not fail: ${status}`;
  };
}

/** Returns the error message of an API request by the owner. */
function asking(method: string, path: string, body: Settings): Mistake {
  return async ({ call, owner: token }) => (await call(method, path, { token, body })).body.error;
}

async function siteOf(slipway: SlipwayProcess): Promise<{ readonly project: TestProject; readonly id: string }> {
  await using source = await SourceFolder.of({ "index.html": "hello" });
  const project = await TestProject.create(slipway, { name: crypto.randomUUID(), localPath: source.path });
  return { project, id: await project.deployed() };
}

/**
 * The most common user mistakes, by the headings of `docs/troubleshooting.md`. Each resolves to Slipway's error
 * message.
 */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  "A comma too many in package.json": deploying({
    "package.json": '{\n  "scripts": {\n    "start": "node server.js",\n  }\n}',
  }),
  "No start script": deploying({ "package.json": '{ "name": "shop" }' }),
  "The wrong folder": deploying({ "notes.txt": "buy milk" }),
  "A root directory that is not there": deploying({ "index.html": "" }, { rootDirectory: "frontend" }),
  "A tool that is not installed": deploying({ "server.js": "" }, { startCommand: "gunicorn-of-mine app:app" }),
  "A build that fails": deploying({ "index.html": "" }, { buildCommand: "cat missing.txt" }),
  "A build that leaves its result elsewhere": deploying(
    { "index.html": "" },
    { projectType: "static", buildCommand: "mkdir out && cp index.html out", outputDirectory: "dist" },
  ),
  "An app with a port of its own": async (slipway) => {
    using elsewhere = testPort();
    const text = `Bun.serve({ port: ${elsewhere.port}, fetch: () => new Response("hi") })`;
    return deploying({ "server.js": text }, STARTED)(slipway);
  },
  "An app that ends at once": deploying({ "server.js": 'throw new Error("no database")' }, STARTED),
  "An app that never listens": deploying({ "server.js": "setInterval(() => {}, 1000)" }, STARTED),
  "A health path that answers with an error": deploying(
    { "server.js": 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("", { status: 500 }) })' },
    { ...STARTED, healthPath: "/health" },
  ),
  "A tab in a compose file": deploying({ "compose.yaml": "services:\n\tweb: { image: nginx }\n" }),
  "A wrong word in a compose file": deploying({ "compose.yaml": "service:\n  web: { image: nginx }\n" }),
  "A compose file without Docker": deploying({ "compose.yaml": "services: { web: { image: nginx, ports: ['80'] } }" }),
  "A Dockerfile without Docker": deploying({ Dockerfile: "FROM nginx\n" }),
  "No token": async ({ call }) => (await call("GET", "/api/projects")).body.error,
  "A field with a typing error": asking("POST", "/api/projects", { name: "shop", startComand: "node server.js" }),
  "A port that does not exist": asking("POST", "/api/projects", { name: "shop", port: 70_000 }),
  "Two sources": asking("POST", "/api/projects", {
    name: "shop",
    gitUrl: "https://git.example.com/shop.git",
    localPath: "/srv/shop",
  }),
  "A folder that is not there": asking("POST", "/api/projects", { name: "shop", localPath: "/srv/no-such-shop" }),
  "A repository that cannot be reached": async (slipway) => {
    const project = await TestProject.create(slipway, {
      name: crypto.randomUUID(),
      gitUrl: "https://127.0.0.1:1/shop.git",
    });
    return (await project.settled(await project.deploy())).error.message;
  },
  "A restart of a site": async (slipway) => {
    const { project, id } = await siteOf(slipway);
    return (await project.call("POST", `/api/deployments/${id}/restart`)).body.error;
  },
  "Deploying on a push": async (slipway) => {
    const { project } = await siteOf(slipway);
    const link = { owner: "acme", repo: "harbour" };
    await project.call("POST", `/api/projects/${project.id}/git/link`, { body: link });
    const body = { enabled: true };
    return (await project.call("POST", `/api/projects/${project.id}/auto-deploy`, { body })).body.error;
  },
  "A change by cookie without an Origin": async ({ call, owner: token }) => {
    const password = "correct horse battery";
    await call("POST", "/api/auth/password", { token, body: { password } });
    const { headers } = await call("POST", "/api/auth/login", { body: { email: "owner@localhost", password } });
    const cookie = headers.getSetCookie()[0]!.split(";")[0]!;
    return (await call("POST", "/api/projects", { headers: { cookie }, body: { name: "shop" } })).body.error;
  },
};
