import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { file } from "../support/inputs/tar_archive.ts";

/** Changes a source file, then fails unless a variable is set. */
const BUILD = 'echo built >>index.html && test "$READY" = yes';
const SERVER = 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("preview") });';

test("of many deployments only the live one, the window and the pinned ones keep their files", async () => {
  await using slipway = await SlipwayProcess.start({ ROLLBACK_WINDOW: "2" });
  await using source = await SourceFolder.of({ "index.html": "0" });
  const project = await TestProject.create(slipway, {
    name: "window",
    localPath: source.path,
    buildCommand: "mkdir -p made && head -c 100000 /dev/zero >made/large",
    projectType: "static",
  });
  const made: string[] = [];
  for (let round = 0; round < 12; round++) {
    await source.write({ "index.html": String(round) });
    made.push(await project.deployed());
    if (round === 1) await project.call("POST", `/api/deployments/${made[1]}/pin`, { body: {} });
  }
  const kept = [made[1]!, made[9]!, made[10]!, made[11]!];
  const folders = () => readdir(join(slipway.folder, "releases"));
  expect((await eventually(folders, (names) => names.length === kept.length)).toSorted()).toEqual(kept.toSorted());
  expect(
    await readdir(join(slipway.folder, "builds")).then((names) => names.filter((name) => !name.startsWith("."))),
  ).toEqual([]);
  const available = await Promise.all(made.map(async (id) => (await project.get(id)).artifactAvailable));
  expect(made.filter((_, index) => available[index])).toEqual(kept);
  const sources = () => readdir(join(slipway.folder, "sources"));
  expect((await sources()).toSorted()).toEqual(kept.toSorted());
  const refused = await project.call("POST", `/api/deployments/${made[5]}/rollback`);
  expect(refused).toMatchObject({ status: 400, body: { code: "artifact_gone" } });
  expect(await project.page()).toBe("11");
  await project.deployed(await project.again(made[1]!, "rollback"));
  expect(await project.page()).toBe("1");
  expect((await folders()).toSorted()).toEqual([made[1]!, made[10]!, made[11]!].toSorted());
  expect((await sources()).toSorted()).toEqual([made[1]!, made[10]!, made[11]!].toSorted());
});

test("of many failed deployments the newest within the window can be rebuilt from exactly their files", async () => {
  await using slipway = await SlipwayProcess.start({ ROLLBACK_WINDOW: "2", SLIPWAY_RUNTIME: "process" });
  const project = await TestProject.create(slipway, { name: "fixed", projectType: "static", buildCommand: BUILD });
  const made: string[] = [];
  for (let round = 0; round < 5; round++) {
    const { id } = await project.upload([file("index.html", `${round}\n`)]);
    expect(await project.settled(id)).toMatchObject({ status: "failed", error: { code: "build_failed" } });
    made.push(id);
  }
  const namesIn = (folder: string) => readdir(join(slipway.folder, folder));
  const kept = await eventually(
    () => namesIn("sources"),
    (names) => names.length === 2,
  );
  expect(kept.toSorted()).toEqual(made.slice(-2).toSorted());
  expect([await namesIn("releases"), await namesIn("uploads")]).toEqual([[], []]);
  const gone = await project.call("POST", `/api/deployments/${made[2]}/redeploy`, { body: {} });
  expect(gone).toMatchObject({ status: 400, body: { code: "artifact_gone" } });
  const upserts = [{ key: "READY", value: "yes" }];
  await project.call("PATCH", `/api/projects/${project.id}/env`, { body: { upserts, deletes: [] } });
  for (let round = 0; round < 2; round++) {
    made.push(await project.deployed(await project.again(made.at(-1)!, "redeploy", { useExistingCommit: true })));
    expect(await project.page()).toBe("4\nbuilt\n");
  }
});

test("of many previews only the newest and the pinned ones run, have an address and keep their files", async () => {
  await using slipway = await SlipwayProcess.start({ ROLLBACK_WINDOW: "1" });
  await using source = await SourceFolder.of({ "server.ts": SERVER });
  const settings = { name: "previews", localPath: source.path, startCommand: "bun server.ts" };
  const project = await TestProject.create(slipway, settings);
  const made: string[] = [];
  for (let round = 0; round < 3; round++) {
    const body = { projectId: project.id, environment: "preview" };
    const { deployment_id: id } = (await project.call("POST", "/api/deployments/build/access", { body })).body;
    made.push(await project.deployed(id));
    if (round === 0) await project.call("POST", `/api/deployments/${id}/pin`, { body: {} });
  }
  const kept = [made[0]!, made[2]!].toSorted();
  const folders = async () => (await readdir(join(slipway.folder, "releases"))).toSorted();
  expect(await eventually(folders, (names) => names.length === kept.length)).toEqual(kept);
  for (const id of made) {
    const { artifactAvailable, services, url } = await project.get(id);
    const stays = kept.includes(id);
    expect([artifactAvailable, services[0].status]).toEqual(stays ? [true, "healthy"] : [false, "stopped"]);
    expect((await slipway.visit(new URL(url).hostname, "/")).status).toBe(stays ? 200 : 404);
    const { services: running } = (await project.call("GET", `/api/deployments/${id}/info`)).body.data;
    expect(running).toHaveLength(stays ? 1 : 0);
  }
  expect((await readdir(join(slipway.folder, "instances"))).filter((name) => !name.startsWith("."))).toHaveLength(2);
});
