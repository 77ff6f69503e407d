import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/identity/token.ts";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { type DockerServer, dockerServer } from "../support/servers/docker_server.ts";
import { eventually } from "../support/eventually.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { folderText, watchProcesses } from "../support/places_of_leaks.ts";
import { dump } from "../support/database/query.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";
import { testDatabase } from "../support/database/test_database.ts";
import { toolchainImage } from "../support/peers/toolchain_image.ts";

const OWN = /canary-(app|build)/;

const BUILD = `
  const { DATABASE_PASSWORD: password, CLONE_TOKEN: token } = process.env;
  for (const secret of [password, token]) {
    console.log("raw", secret, "quoted", JSON.stringify({ secret }));
    console.error("base64", btoa(secret), "inside", btoa("user:" + secret + "@host"));
    console.log("hex", Buffer.from(secret).toString("hex"));
    console.log("address", "https://x-access-token:" + encodeURIComponent(secret) + "@git.example.com/a.git");
    process.stdout.write(secret.slice(0, 10));
    await Bun.sleep(300);
    process.stdout.write(secret.slice(10) + "\\n");
  }
  if (await Bun.file("fails").exists()) throw new Error("Cannot go on with " + password);
`;

const APP = `
  const { createHash } = require("node:crypto");
  const known = createHash("sha256").update(process.env.DATABASE_PASSWORD + process.env.CLONE_TOKEN).digest("hex");
  Bun.serve({ port: process.env.PORT, fetch: () => new Response(known) });
`;

/** The same app, but it also prints its secrets, from start to end. */
const TALKING_APP = `
  const { DATABASE_PASSWORD: password, CLONE_TOKEN: token } = process.env;
  const print = (when) => console.log(when, password, btoa(token), encodeURIComponent(password), JSON.stringify({ token }));
  print("at first");
  process.on("SIGTERM", () => {
    print("at last");
    process.exit(0);
  });
  ${APP}`;

interface Place {
  readonly slipway: SlipwayProcess;
  readonly databaseUrl: string;
  /** Further text to search, collected once deployments exist. */
  readonly more?: () => Promise<string>;
}

/** Deploys an app that prints its secrets in every encoding, and searches everywhere for them. */
async function searched({ slipway, databaseUrl, more }: Place): Promise<void> {
  const secrets = { DATABASE_PASSWORD: `p/${crypto.randomUUID()}+ö&'`, CLONE_TOKEN: newToken() };
  await using source = await SourceFolder.of({ "package.json": "{}", "build.js": BUILD, "server.js": APP });
  const project = await TestProject.create(slipway, {
    name: "canary",
    localPath: source.path,
    packageManager: "bun",
    buildCommand: "bun build.js canary-build",
    startCommand: "bun server.js canary-app",
  });
  const upserts = Object.entries(secrets).map(([key, value]) => ({ key, value, secret: true }));
  await project.call("PATCH", `/api/projects/${project.id}/env`, { body: { upserts } });
  const answers: string[] = [];
  using watched = watchProcesses(OWN);
  await source.write({ "server.js": TALKING_APP });
  const talking = await project.deployed();
  await source.write({ "server.js": APP });
  const first = await project.deployed();
  const left = await eventually(
    async () => (await project.call("GET", `/api/deployments/${talking}/info`)).body.data.services,
    ({ length }) => length === 0,
  );
  expect(left).toEqual([]);
  const printed = await project.log(talking, "runtime");
  expect(printed).toMatch(/^at first \[secret\].*\nat last \[secret\].*\n$/);
  answers.push(printed);
  const known = createHash("sha256")
    .update(secrets.DATABASE_PASSWORD + secrets.CLONE_TOKEN)
    .digest("hex");
  expect(await project.page()).toBe(known);
  await source.write({ fails: "" });
  const second = await project.deploy();
  expect((await project.settled(second)).status).toBe("failed");
  for (const id of [first, second]) {
    for (const path of ["", "/build", "/info", "/usage", "/logs", "/logs?kind=runtime"])
      answers.push((await project.call("GET", `/api/deployments/${id}${path}`)).text);
    answers.push(await project.log(id), JSON.stringify(await Array.fromAsync(project.events(id))));
  }
  answers.push((await project.call("GET", "/api/deployments")).text);
  answers.push((await project.call("GET", `/api/projects/${project.id}/env`)).text);
  expect(answers.join("\n")).toContain("[secret]");
  expectHidden(answers.join("\n"), secrets);
  expect([...watched.commands].some((command) => OWN.test(command))).toBe(true);
  expectHidden([...watched.commands].join("\n"), secrets);
  expect(watched.environments.size).toBeGreaterThan(3);
  expectHidden([...watched.environments].join("\n"), secrets);
  const files = await folderText(slipway.folder);
  expect(files).toContain("releases");
  expectHidden(files, secrets);
  const stored = await dump(databaseUrl);
  expect(stored).toContain("[secret]");
  expectHidden(stored, secrets);
  expectHidden((await more?.()) ?? "", secrets);
  const { stdout, stderr } = await slipway.stop();
  expect(stderr).toContain('"request"');
  expectHidden(stdout + stderr, secrets);
}

const WHAT = "secrets that a build prints, in any form, are in no log, event, response, process list or file";

test(`${WHAT}, of a process`, async () => {
  await using database = await testDatabase({ prepare: migrate });
  const settings = { DATABASE_URL: database.url, LOG_LEVEL: "debug" };
  await using slipway = await SlipwayProcess.start(settings);
  await searched({ slipway, databaseUrl: database.url });
});

/** The history, the configuration and the layers of all images of a server. */
async function imagesText({ docker, installation }: DockerServer): Promise<string> {
  const images = await docker("images", "--quiet", "--filter", `label=slipway.installation=${installation}`);
  expect(images).not.toEqual([]);
  const layers = images.map((image) =>
    docker("run", "--rm", "--user", "0", "--entrypoint", "sh", image, "-c", ALL_FILES),
  );
  const known = [
    docker("image", "inspect", ...images),
    ...images.map((image) => docker("history", "--no-trunc", image)),
  ];
  return (await Promise.all([...known, ...layers])).flat().join("\n");
}

const ALL_FILES = "find / -xdev -newer /app/server.js -type f -size -5000k -not -path '/proc/*' -exec cat {} +";

test(`${WHAT}, nor in an image or its history, of a container`, async () => {
  await using server = await dockerServer({ LOG_LEVEL: "debug", BASE_IMAGES: `*=${await toolchainImage()}` });
  const { slipway, databaseUrl } = server;
  await searched({ slipway, databaseUrl, more: () => imagesText(server) });
});
