import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SourceFolder, TestProject } from "../support/apps/deploying.ts";
import { randomInput } from "../support/inputs/random_input.ts";
import { RunningProgram, SlipwayProcess } from "../support/servers/slipway_process.ts";

const CUTS = 200;
const VIEWERS = 500;
const LINES = 10_000;
const MEMORY_BYTES = 600 * 1_048_576;

/** Prints lines in bursts, with colors and multi-byte characters. */
function printing(lines: number, burst: number, pauseMs: number): string {
  return `
    for (let line = 0; line < ${lines}; line++) {
      console.log("\\u001b[32m" + line + "\\u001b[0m of ${lines}: ähnlich wie 船 " + "x".repeat(line % 80));
      if (line % ${burst} === 0) await Bun.sleep(${pauseMs});
    }
    await Bun.write("index.html", "printed");
  `;
}

async function printingProject(slipway: SlipwayProcess, source: SourceFolder): Promise<TestProject> {
  return TestProject.create(slipway, {
    name: `printer-${crypto.randomUUID().slice(0, 8)}`,
    localPath: source.path,
    projectType: "static",
    buildCommand: "bun print.ts",
  });
}

/** Opens the event stream after an event. */
function open({ slipway }: TestProject, id: string, since: number, signal: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${slipway.owner}`, "last-event-id": String(since) };
  return fetch(`${slipway.address}/api/deployments/${id}/stream`, { headers, signal, keepalive: false });
}

/** Reads complete frames up to a limit or until the stream ends or breaks. Skips comments. */
async function frames(body: ReadableStream<Uint8Array>, limit: number): Promise<string[]> {
  const decoder = new TextDecoder();
  const seen: string[] = [];
  let text = "";
  try {
    for await (const bytes of body) {
      const parts = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
      text = parts.pop()!;
      seen.push(...parts.filter((part) => part.startsWith("id: ")));
      if (seen.length >= limit) break;
    }
  } catch {
    // The server closed the connection: only complete frames count.
  }
  return seen.slice(0, limit);
}

function lastOf(seen: readonly string[]): number {
  return seen.length === 0 ? 0 : Number(/^id: (\d+)/.exec(seen.at(-1)!)![1]);
}

test("a feed cut 200 times at random and resumed, over a restart of the server, equals what is stored", async () => {
  await using slipway = await SlipwayProcess.start();
  await using source = await SourceFolder.of({ "print.ts": printing(4_000, 20, 30) });
  const project = await printingProject(slipway, source);
  const id = await project.deploy();
  const seen: string[] = [];
  let cuts = 0;
  let ended = false;
  const lengths = randomInput("cuts of a feed");
  while (!ended) {
    const cut = new AbortController();
    const opened = await open(project, id, lastOf(seen), cut.signal).catch(() => undefined);
    if (opened?.status === 204) ended = true;
    else if (opened?.status === 200 && opened.body) {
      // After the last cut, reads the rest without a limit.
      const limit = cuts < CUTS ? 1 + lengths.below(30) : Number.POSITIVE_INFINITY;
      const some = await frames(opened.body, limit);
      seen.push(...some);
      ended = some.some((frame) => frame.includes("event: end"));
      cut.abort();
      cuts++;
    } else await Bun.sleep(50);
    if (cuts === CUTS / 2) {
      cuts++;
      await slipway.stop();
      await slipway.start();
    }
  }
  expect(cuts).toBeGreaterThan(CUTS);
  const stored = await open(project, id, 0, new AbortController().signal);
  expect(seen).toEqual(await frames(stored.body!, Number.POSITIVE_INFINITY));
  expect(seen.map((frame) => lastOf([frame]))).toEqual(seen.map((_, index) => index + 1));
  const messages = seen.flatMap((frame) => {
    const { type, message } = JSON.parse(/^data: (.*)$/m.exec(frame)![1]!);
    return type === "log" ? [message as string] : [];
  });
  expect(`${messages.join("\n")}\n`).toBe(await project.log(id));
  expect(messages.filter((line) => line.includes(" of 4000: ähnlich wie 船")).length).toBeGreaterThanOrEqual(4_000);
  expect(await project.page()).toBe("printed");
});

test("500 followers of a deployment of 10,000 lines miss nothing, and the server's memory is bounded", async () => {
  await using slipway = await SlipwayProcess.start();
  await using source = await SourceFolder.of({ "print.ts": printing(LINES, 500, 10) });
  const project = await printingProject(slipway, source);
  const id = await project.deploy({ start: false });
  const viewers = join(import.meta.dir, "../support/servers/feed_viewers.ts");
  const feed = `${slipway.address}/api/deployments/${id}/stream`;
  await using watching = new RunningProgram([process.execPath, viewers, feed, slipway.owner, String(VIEWERS)], {
    BUN_CONFIG_MAX_HTTP_REQUESTS: String(VIEWERS),
  });
  await watching.printed(/open\n/);
  await project.call("POST", `/api/deployments/${id}/build`);
  const { stdout } = await watching.ended;
  const { lastSeq } = (await project.call("GET", `/api/deployments/${id}/build`)).body.data;
  expect(lastSeq).toBeGreaterThan(LINES);
  expect(JSON.parse(stdout.split("\n")[1]!)).toEqual({ [`${lastSeq} 0`]: VIEWERS });
  const peak =
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${slipway.program.pid}/status`, "utf8"))![1]) * 1_024;
  expect(peak).toBeLessThan(MEMORY_BYTES);
});
