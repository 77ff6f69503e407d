import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { commandOutcome, SlipwayProcess, temporaryPlace } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";

/** Responds with its environment variable and a unique id of this run. */
const FILES = {
  "package.json": JSON.stringify({ scripts: { start: "bun server.js" } }),
  "server.js": `const run = crypto.randomUUID();
require("node:http").createServer((_, answer) => answer.end(process.env.WORD + " " + run)).listen(process.env.PORT);`,
};

/** Deploys several apps that run as processes, each with its own word. */
async function withApps(slipway: SlipwayProcess, source: SourceFolder, count: number) {
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  const apps: { readonly project: TestProject; readonly word: string; readonly live: string }[] = [];
  for (const word of names) {
    const project = await TestProject.create(slipway, { name: word, localPath: source.path });
    const body = { upserts: [{ key: "WORD", value: word, secret: true }] };
    await project.call("PATCH", `/api/projects/${project.id}/env`, { body });
    apps.push({ project, word, live: await project.deployed() });
  }
  return apps;
}

type Apps = Awaited<ReturnType<typeof withApps>>;

/** The response of each app, once it contains the app's word and comes from another run than `before`. */
function answers(apps: Apps, slipway: SlipwayProcess, before: readonly string[] = []): Promise<readonly string[]> {
  return eventually(
    () => Promise.all(apps.map(({ project }) => project.on(slipway).page())),
    (pages) => pages.every((page, index) => page.startsWith(`${apps[index]!.word} `) && !before.includes(page)),
  );
}

/** The keys with which the environments of the instances are encrypted (sealed). */
function sealingKeys(folder: string): ReadonlySet<string> {
  const instances = join(folder, "instances");
  const names = readdirSync(instances).filter((name) => !name.startsWith("."));
  return new Set(
    names.map(
      (name) => JSON.parse(readFileSync(join(instances, name, "record.json"), "utf8")).environment.split(".")[1],
    ),
  );
}

/** Kills the programs of all instances. */
function endPrograms(folder: string): void {
  const instances = join(folder, "instances");
  for (const name of readdirSync(instances).filter((each) => !each.startsWith("."))) {
    process.kill(parseInt(readFileSync(join(instances, name, "run"), "utf8"), 10), "SIGKILL");
  }
}

/** Removes all but the current key from the key file. */
async function throwFormerKeysAway(folder: string): Promise<void> {
  const file = join(folder, "secret.key");
  const [current, ...former] = (await readFile(file, "utf8")).trim().split("\n");
  expect(former.length).toBeGreaterThan(0);
  await writeFile(file, `${current}\n`);
}

test("running processes are encrypted with the new key too, and start again after the former one is gone", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of(FILES);
  const settings = { DATABASE_URL: database.url, SLIPWAY_DATA: place.data, SLIPWAY_ADMIN_TOKEN: newToken() };
  await using a = await SlipwayProcess.start(settings);
  await using b = await SlipwayProcess.start(settings);
  const apps = await withApps(a, source, 3);
  const before = await answers(apps, b);
  const [formerKey, ...none] = sealingKeys(place.data);
  expect(none).toEqual([]);

  const rotated = await commandOutcome(["rotate-key"], a.settings);
  expect(rotated).toMatchObject({ code: 0, stderr: "" });
  const [key] = sealingKeys(place.data);
  expect(rotated.stdout).toContain(`sealed with the key ${key}.`);
  expect([...sealingKeys(place.data)]).not.toContain(formerKey);
  expect(await answers(apps, a)).toEqual(before);

  await throwFormerKeysAway(place.data);
  await a.stop();
  await b.stop();
  await b.start();
  await a.start();
  expect(await answers(apps, a)).toEqual(before);
  for (const { live, project } of apps) {
    const restarted = await project.call("POST", `/api/deployments/${live}/restart`);
    expect(restarted.status).toBe(200);
  }
  const restarted = await answers(apps, b, before);
  endPrograms(place.data);
  await answers(apps, a, [...before, ...restarted]);
});

test("a rotation that was killed in the middle resumes, and nothing is lost", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using place = await temporaryPlace();
  await using source = await SourceFolder.of(FILES);
  const [former, current] = [newKeyText(), newKeyText()];
  const settings = { DATABASE_URL: database.url, SLIPWAY_DATA: place.data, SLIPWAY_ADMIN_TOKEN: newToken() };
  await using slipway = await SlipwayProcess.start({ ...settings, SLIPWAY_SECRET_KEY: former });
  const apps = await withApps(slipway, source, 4);
  const before = await answers(apps, slipway);
  const formerly = sealingKeys(place.data);
  await slipway.stop();
  const both = { SLIPWAY_SECRET_KEY: current, SLIPWAY_SECRET_KEY_PREVIOUS: former };
  await slipway.start(both);

  const script = join(import.meta.dir, "../support/database/resealing_process.ts");
  const killed = Bun.spawn([process.execPath, script, database.url, place.data, current, former], {
    stdout: "pipe",
    stderr: "inherit",
  });
  await killed.stdout.getReader().read();
  killed.kill("SIGKILL");
  await killed.exited;
  expect(sealingKeys(place.data)).not.toEqual(formerly);
  endPrograms(place.data);
  const halfway = await answers(apps, slipway, before);

  const rotated = await commandOutcome(["rotate-key"], { ...slipway.settings, ...both });
  expect(rotated).toMatchObject({ code: 0, stderr: "" });
  expect(sealingKeys(place.data)).toHaveProperty("size", 1);
  expect(sealingKeys(place.data)).not.toEqual(formerly);
  await slipway.stop();
  endPrograms(place.data);
  await slipway.start({ SLIPWAY_SECRET_KEY: current });
  await answers(apps, slipway, [...before, ...halfway]);
});
