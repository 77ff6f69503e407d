import { expect, test } from "bun:test";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

const SECRET = "canary-of-web";

/** Responds with its environment and that of its build, and prints its secret. */
const SERVER = `
  const built = await Bun.file(process.argv[2]).json();
  console.log("token=" + process.env.TOKEN + ";");
  Bun.serve({ port: process.env.PORT, fetch: () => Response.json({ run: process.env, built }) });
`;
const BUILD = `await Bun.write(process.argv[2], JSON.stringify(process.env));`;

/** A service of the source, with a build. */
const service = (name: string) => ({
  name,
  buildCommand: `bun build.ts ${name}.json`,
  startCommand: `bun server.ts ${name}.json`,
});

test("a variable of one service reaches that service, but no other one and no build", async () => {
  await using slipway = await SlipwayProcess.start();
  await using source = await SourceFolder.of({ "server.ts": SERVER, "build.ts": BUILD });
  const project = await TestProject.create(slipway, {
    name: "tokens",
    localPath: source.path,
    runtime: "process",
    services: [service("web"), service("api")],
    publicEndpoints: [{ service: "web" }, { service: "api", targetPath: "/api" }],
  });
  const upserts = [
    { key: "TOKEN", value: "shared" },
    { key: "web/TOKEN", value: SECRET, secret: true },
  ];
  const written = await project.call("PATCH", `/api/projects/${project.id}/env`, { body: { upserts } });
  expect(written.status).toBe(200);

  const id = await project.deployed();
  const [web, api] = [JSON.parse(await project.page()), JSON.parse(await project.page("/api"))];
  expect([web.run.TOKEN, web.built.TOKEN]).toEqual([SECRET, "shared"]);
  expect([api.run.TOKEN, api.built.TOKEN]).toEqual(["shared", "shared"]);
  expect(JSON.stringify([api, web.built])).not.toContain(SECRET);
  const names = [web, api].flatMap(({ built, run }) => [...Object.keys(built), ...Object.keys(run)]);
  expect(names.filter((name) => name.includes("/"))).toEqual([]);
  const output = await project.log(id, "runtime");
  expect(output).toContain("token=[secret];");
  expect(output + (await project.log(id))).not.toContain(SECRET);
});
