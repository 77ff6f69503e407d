import { expect, test } from "bun:test";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

/** Responds with its variables, those of its build, and what builds left in their home directory. */
const SERVER = `
  const built = await Bun.file("built.json").json();
  const { COLOR = null, LIVE_ONLY = null } = process.env;
  Bun.serve({ port: process.env.PORT, fetch: () => Response.json({ COLOR, LIVE_ONLY, built }) });
`;
const BUILD = `
  const { COLOR = null, LIVE_ONLY = null, HOME } = process.env;
  const home = Bun.file(HOME + "/left");
  const left = (await home.exists()) ? await home.text() : "";
  await Bun.write(home, left + COLOR + ";");
  await Bun.write("built.json", JSON.stringify({ COLOR, LIVE_ONLY, left }));
`;

test("a preview is built and run with the variables of previews, and promoted with those of production", async () => {
  await using slipway = await SlipwayProcess.start();
  await using source = await SourceFolder.of({ "server.ts": SERVER, "build.ts": BUILD });
  const project = await TestProject.create(slipway, {
    name: "colors",
    localPath: source.path,
    buildCommand: "bun build.ts",
    startCommand: "bun server.ts",
    runtime: "process",
  });
  const set = (query: string, values: Record<string, string>) => {
    const upserts = Object.entries(values).map(([key, value]) => ({ key, value, secret: true }));
    return project.call("PATCH", `/api/projects/${project.id}/env${query}`, { body: { upserts } });
  };
  await set("", { COLOR: "canary-blue", LIVE_ONLY: "canary-live" });
  expect((await set("?environment=preview", { COLOR: "canary-green" })).status).toBe(200);
  const ofLive = { COLOR: "canary-blue", LIVE_ONLY: "canary-live" };
  const ofPreview = { COLOR: "canary-green", LIVE_ONLY: null };

  await project.deployed();
  expect(JSON.parse(await project.page())).toEqual({ ...ofLive, built: { ...ofLive, left: "" } });

  const preview = await project.deployed(await project.deploy({ environment: "preview" }));
  const { hostname } = new URL((await project.get(preview)).url);
  const seen = await (await slipway.visit(hostname, "/")).json();
  expect(seen).toEqual({ ...ofPreview, built: { ...ofPreview, left: "" } });

  await project.deployed(await project.again(preview, "promote"));
  expect(JSON.parse(await project.page())).toEqual({ ...ofLive, built: { ...ofPreview, left: "" } });

  await project.deployed();
  expect(JSON.parse(await project.page())).toEqual({ ...ofLive, built: { ...ofLive, left: "canary-blue;" } });
});
