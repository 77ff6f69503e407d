import { expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { migrate } from "../../adapters/postgres/migrate.ts";
import { newToken } from "../../domain/token.ts";
import { SourceFolder, TestProject } from "../support/deploying.ts";
import { expectHidden } from "../support/expect_hidden.ts";
import { commandLineOf, processIds } from "../support/processes_with.ts";
import { dump } from "../support/query.ts";
import { SlipwayProcess } from "../support/slipway_process.ts";
import { testDatabase } from "../support/test_database.ts";

setDefaultTimeout(120_000);

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

/** Notes every command line, and the environment of every process but the project's own, again and again. */
function watchProcesses() {
  const commands = new Set<string>();
  const environments = new Set<string>();
  const look = () => {
    for (const pid of processIds()) {
      const command = commandLineOf(pid);
      commands.add(command);
      if (OWN.test(command)) continue;
      try {
        environments.add(readFileSync(`/proc/${pid}/environ`, "latin1"));
      } catch {
        // It ended in the meantime, or it is another user's.
      }
    }
  };
  const timer = setInterval(look, 10);
  return { commands, environments, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Everything below a folder, as text. */
async function contents(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")));
  return [...files, ...texts].join("\\n");
}

test("secrets that a build prints, in any form, are in no log, event, answer, process list or file", async () => {
  await using database = await testDatabase({ prepare: migrate });
  await using slipway = await SlipwayProcess.start({
    DATABASE_URL: database.url,
    SLIPWAY_RUNTIME: "process",
    LOG_LEVEL: "debug",
  });
  const secrets = { DATABASE_PASSWORD: `p/${crypto.randomUUID()}+ö&`, CLONE_TOKEN: newToken() };
  await using source = await SourceFolder.of({ "build.js": BUILD, "server.js": APP });
  const project = await TestProject.create(slipway, {
    name: "canary",
    localPath: source.path,
    buildCommand: "bun build.js canary-build",
    startCommand: "bun server.js canary-app",
  });
  const upserts = Object.entries(secrets).map(([key, value]) => ({ key, value, secret: true }));
  await project.call("PATCH", `/api/projects/${project.id}/env`, { body: { upserts } });
  const answers: string[] = [];
  using watched = watchProcesses();
  const first = await project.deployed();
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
  expect(answers.join("\\n")).toContain("[secret]");
  expectHidden(answers.join("\\n"), secrets);
  expect([...watched.commands].some((command) => OWN.test(command))).toBe(true);
  expectHidden([...watched.commands].join("\\n"), secrets);
  expect(watched.environments.size).toBeGreaterThan(3);
  expectHidden([...watched.environments].join("\\n"), secrets);
  const files = await contents(slipway.folder);
  expect(files).toContain("releases");
  expectHidden(files, secrets);
  const stored = await dump(database.url);
  expect(stored).toContain("[secret]");
  expectHidden(stored, secrets);
  const { stdout, stderr } = await slipway.stop();
  expect(stderr).toContain('"request"');
  expectHidden(stdout + stderr, secrets);
});
