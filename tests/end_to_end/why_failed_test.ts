import { expect, setDefaultTimeout, test } from "bun:test";
import { SlipwayProcess } from "../support/slipway_process.ts";
import { SourceFolder, TestProject } from "../support/deploying.ts";
import { testPort } from "../support/test_port.ts";

setDefaultTimeout(120_000);

function server(port: string, status = 200): string {
  const answer = `() => new Response("hi", { status: ${status} })`;
  return `Bun.serve({ hostname: "127.0.0.1", port: ${port}, fetch: ${answer} })`;
}

test("what fails as a process says in its error why, and what to do next", async () => {
  // Long enough for a program to listen on a machine that is busy.
  await using slipway = await SlipwayProcess.start({ HEALTH_TIMEOUT_SECONDS: "10" });
  using elsewhere = testPort();
  const app = { startCommand: "bun server.js" };
  const cases = [
    [
      "wrong port",
      { "server.js": server(`${elsewhere.port}`) },
      app,
      new RegExp(`^Cannot bring it live: it listens on ${elsewhere.port}, not on \\$PORT \\(\\d+\\)\\. Read the port`),
    ],
    [
      "unwell",
      { "server.js": server("process.env.PORT", 500) },
      { ...app, healthPath: "/health" },
      /^Cannot bring it live: it answers 500 on \/health/,
    ],
    [
      "tool",
      { "server.js": "" },
      { startCommand: "slipway-no-such-tool serve" },
      /^Cannot bring it live: its start command calls slipway-no-such-tool, which is not installed\. Add/,
    ],
    [
      "comma",
      { "package.json": '{\n  "scripts": {\n    "start": "bun a.js",\n  }\n}' },
      {},
      /^Cannot read package\.json: in line 3 there is a comma before }/,
    ],
    ["unknown", { "notes.txt": "" }, {}, /^Cannot tell what this project is: it has none of the files that tell/],
  ] as const;
  const failures = cases.map(async ([name, files, settings, sentence]) => {
    await using source = await SourceFolder.of(files);
    const project = await TestProject.create(slipway, { name, localPath: source.path, ...settings });
    const failed = await project.settled(await project.deploy());
    expect([name, failed.status, failed.error?.message]).toEqual([name, "failed", expect.stringMatching(sentence)]);
  });
  await Promise.all(failures);
});
