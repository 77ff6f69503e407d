import { describe, expect, test } from "bun:test";
import { buildFailure } from "../../../adapters/docker/build/build_failure.ts";
import { BuildLog } from "../../../adapters/docker/build/build_log.ts";
import { buildTrace } from "../../../adapters/docker/build/build_trace.ts";
import { ClassicLog } from "../../../adapters/docker/build/classic_log.ts";
import { wireFields, WireMessage } from "../../../adapters/docker/build/wire_format.ts";

interface StepFixture {
  readonly cached?: boolean;
  readonly started?: number;
  readonly completed?: number;
  readonly error?: string;
}

const time = (seconds: number) =>
  new WireMessage()
    .number(1, 1_700_000_000 + Math.floor(seconds))
    .number(2, Math.round((seconds % 1) * 1e9))
    .finish();

/** A trace about one step, whose digest is its name. */
function step(name: string, { cached = false, started = 1, completed, error = "" }: StepFixture = {}): Uint8Array {
  const vertex = new WireMessage().text(1, name).text(2, "an input").text(3, name);
  vertex.number(4, cached ? 1 : 0).bytes(5, time(started));
  if (completed !== undefined) vertex.bytes(6, time(completed));
  return new WireMessage().bytes(1, vertex.text(7, error).finish()).finish();
}

function output(name: string, text: string | Uint8Array, stream = 1): Uint8Array {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const log = new WireMessage().text(1, name).bytes(2, time(1)).number(3, stream).bytes(4, bytes).finish();
  return new WireMessage().bytes(3, log).finish();
}

function status(name: string, id: string, bytes: number, completed: boolean): Uint8Array {
  const message = new WireMessage().text(1, id).text(2, name).number(4, bytes).number(5, bytes).bytes(6, time(1));
  if (completed) message.bytes(8, time(2));
  return new WireMessage().bytes(2, message.finish()).finish();
}

/** The lines of some traces; stderr lines are prefixed with `!`. */
function lines(...traces: readonly Uint8Array[]): string[] {
  const log = new BuildLog();
  return [...traces.flatMap((trace) => log.take(buildTrace(trace))), ...log.flush()].map(({ text, stream }) =>
    stream === "stderr" ? `! ${text}` : text,
  );
}

describe("WireMessage", () => {
  test.each([0, 1, 127, 128, 300, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER])(
    "writes %i so that it is read back",
    (value) => {
      const expected = value === 0 ? [] : [[7, value]];
      expect([...wireFields(new WireMessage().number(7, value).finish())]).toEqual(expected as never);
      expect([...wireFields(new WireMessage().number(7, BigInt(value)).finish())]).toEqual(expected as never);
    },
  );

  test("keeps the order of fields and the bytes of texts", () => {
    const message = new WireMessage().text(1, "ä").number(2, 3).bytes(1, new Uint8Array()).text(4, "").finish();
    expect([...wireFields(message)]).toEqual([
      [1, Uint8Array.from([0xc3, 0xa4])],
      [2, 3],
      [1, new Uint8Array()],
    ]);
  });

  test("skips numbers of fixed length", () => {
    const fixed = Uint8Array.from([0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x15, 1, 2, 3, 4, 0x18, 5]);
    expect([...wireFields(fixed)]).toEqual([[3, 5]]);
  });

  test.each([[[0x08]], [[0x0a, 5, 1]], [[0x0b]], [[0x08, ...Array.from({ length: 11 }, () => 0xff)]], [[0x09, 1]]])(
    "refuses %j",
    (bytes) => {
      expect(() => [...wireFields(Uint8Array.from(bytes))]).toThrow(RangeError);
    },
  );
});

describe("BuildLog", () => {
  test("logs a step when it starts, its output, and how long it took", () => {
    const name = "[2/5] RUN npm ci";
    expect(
      lines(step(name), output(name, "added 3\nfound "), output(name, "0\n"), step(name, { completed: 4.25 })),
    ).toEqual([name, "added 3", "found 0", "[2/5] DONE 3.3s"]);
  });

  test("logs steps that are found in the cache", () => {
    const name = "[build 3/4] COPY . .";
    expect(lines(step(name, { cached: true, completed: 1 }))).toEqual([name, "[build 3/4] CACHED"]);
  });

  test("leaves out internal steps of every build, and the end of other internal steps", () => {
    const names = ["[internal] load build definition from Dockerfile", "[internal] load .dockerignore"];
    expect(lines(...names.map((name) => step(name, { completed: 2 })))).toEqual([]);
    const metadata = "[internal] load metadata for docker.io/library/node:22";
    expect(lines(step(metadata), step(metadata, { completed: 2 }))).toEqual([metadata]);
  });

  test("keeps the output of parallel steps apart", () => {
    const [one, two] = ["[a 1/2] RUN one", "[b 1/2] RUN two"] as const;
    const logged = lines(
      step(one),
      step(two),
      output(one, "1\n2"),
      output(two, "x\n"),
      output(one, "3\n"),
      output(two, "y\n"),
    );
    expect(logged).toEqual([one, two, one, "1", two, "x", one, "23", two, "y"]);
  });

  test("keeps stdout and stderr apart", () => {
    const name = "[1/1] RUN x";
    expect(lines(step(name), output(name, "out"), output(name, "err\n", 2), output(name, "put\n"))).toEqual([
      name,
      "! err",
      "output",
    ]);
  });

  test("splits progress bars into lines, and handles broken and split characters", () => {
    const name = "[1/1] RUN x";
    const euro = new TextEncoder().encode("€\n");
    const logged = lines(
      step(name),
      output(name, "10%\r20%\r\n"),
      output(name, euro.slice(0, 1)),
      output(name, euro.slice(1)),
      output(name, Uint8Array.from([0x61, 0xff, 0x62, 0x0a])),
      output(name, "\u001b[32mgreen\u001b[0m\n"),
      output(name, "unended"),
    );
    expect(logged.slice(1)).toEqual(["10%", "20%", "€", "a\uFFFDb", "\u001b[32mgreen\u001b[0m", "unended"]);
  });

  test("logs each pulled layer once", () => {
    const name = "[1/2] FROM docker.io/library/node:22";
    const layer = `sha256:${"0123456789ab".repeat(5)}`;
    const logged = lines(
      step(name),
      status(name, layer, 1_000_000, false),
      status(name, layer, 31_400_000, true),
      status(name, layer, 31_400_000, true),
      status(name, "resolve", 0, true),
    );
    expect(logged).toEqual([name, "sha256:0123456789ab 31.4 MB"]);
  });

  test("finds the step that failed, not the ones cancelled because of it", () => {
    const log = new BuildLog();
    const cancelled = { completed: 2, error: "context canceled" };
    const failed = { completed: 2, error: "executor failed running [/bin/sh -c x]: exit code: 1" };
    log.take(buildTrace(step("[a 1/1] RUN x", cancelled)));
    const logged = log.take(buildTrace(step("[b 1/1] RUN y", failed)));
    expect(logged.at(-1)).toEqual({ text: "[b 1/1] FAILED", stream: "stderr" });
    expect(log.failed).toEqual({ name: "[b 1/1] RUN y", error: failed.error });
  });

  test("puts the name of a step on one line", () => {
    expect(lines(step("[1/1] RUN a\n  && b"))).toEqual(["[1/1] RUN a && b"]);
  });

  test("logs warnings", () => {
    const warning = new WireMessage().text(1, "d").number(2, 1).text(3, "old syntax").finish();
    expect(lines(new WireMessage().bytes(4, warning).finish())).toEqual(["! WARNING: old syntax"]);
  });
});

describe("ClassicLog", () => {
  test("logs the same build with the same lines", () => {
    const log = new ClassicLog();
    const streams = [
      "Step 1/3 : FROM debian",
      "\n",
      " ---> 0b15098aedde\n",
      "Step 2/3 : RUN npm ci",
      "\n",
      " ---> Running in abc123\n",
      "one",
      "\n",
      "\n",
      "added 3\nfou",
      "\u001b[91mwarn\u001b[0m",
      "nd 0\n",
      "\u001b[91ming\n\u001b[0m",
      "Removing intermediate container abc123\n",
      " ---> 00000000\n",
      " ---> Removed intermediate container abc123\n",
      " ---> \n",
      "Step 3/3 : LABEL a=b",
      "\n",
      " ---> Using cache\n",
      "Successfully built 0123\n",
    ];
    const logged = streams.flatMap((stream) => log.read({ stream })).map(({ text, stream }) => `${stream} ${text}`);
    expect(logged).toEqual([
      "stdout [1/3] FROM debian",
      "stdout [2/3] RUN npm ci",
      "stdout one",
      "stdout ",
      "stdout added 3",
      "stdout found 0",
      "stderr warning",
      "stdout [3/3] LABEL a=b",
      "stdout [3/3] CACHED",
    ]);
    expect(log.container).toBe("abc123");
    expect(log.image).toBeUndefined();
    log.read({ aux: { ID: "sha256:1" } });
    expect(log.image).toBe("sha256:1");
  });

  test("finds the step that failed", () => {
    const log = new ClassicLog();
    log.read({ stream: "Step 2/3 : RUN false" });
    log.read({ error: "x", errorDetail: { message: "returned a non-zero code: 1" } });
    expect(log.failed).toEqual({ name: "[2/3] RUN false", error: "returned a non-zero code: 1" });
  });

  test("logs pulled images without the progress of each layer", () => {
    const log = new ClassicLog();
    const logged = [
      { status: "Pulling from library/node", id: "22" },
      { status: "Downloading", id: "abc", progressDetail: { current: 3 } },
      { status: "Pull complete", id: "abc", progressDetail: {} },
      { status: "Digest: sha256:1" },
    ].flatMap((message) => log.read(message));
    expect(logged.map(({ text }) => text)).toEqual([
      "22: Pulling from library/node",
      "abc: Pull complete",
      "Digest: sha256:1",
    ]);
  });
});

describe("buildFailure()", () => {
  test.each([
    [
      "[3/5] RUN npm ci",
      "executor failed running [/bin/sh -c npm ci]: exit code: 1",
      "step [3/5] RUN npm ci ended with code 1",
    ],
    [
      "[3/5] RUN x",
      'process "/bin/sh -c x" did not complete successfully: exit code: 127',
      "step [3/5] RUN x ended with code 127; it calls something that is not in the image; the log says what. Install it there",
    ],
    ["[3/5] RUN x", "The command '/bin/sh -c x' returned a non-zero code: 2", "step [3/5] RUN x ended with code 2"],
    [
      "[3/5] RUN x",
      "exit code: 137",
      "step [3/5] RUN x ended with code 137; it was killed, most likely for lack of memory",
    ],
    [
      "[2/3] COPY a /b",
      'failed to compute cache key: "/a" not found: not found',
      'step [2/3] COPY a /b failed: "/a" not found: not found',
    ],
    [
      "[2/3] COPY a /b",
      "failed to copy files: lstat /var/lib/docker/tmp/buildkit-mount123/a: no such file or directory",
      "step [2/3] COPY a /b failed: failed to copy files: lstat /a: no such file or directory",
    ],
  ])("of step %s with %j", (name, error, expected) => {
    const failure = buildFailure("something around it", { name, error });
    expect([failure.kind, failure.code, failure.message]).toEqual([
      "invalid",
      "build_failed",
      `Cannot build: ${expected}`,
    ]);
  });

  test.each([
    ["[internal] load metadata for docker.io/library/node:22", "node:22"],
    ["[internal] load metadata for docker.io/me/own:1", "me/own:1"],
    ["[internal] load metadata for registry.example.com/a/b:1", "registry.example.com/a/b:1"],
    ["[base 1/3] FROM docker.io/library/node:22@sha256:0123", "node:22"],
    ["[1/2] FROM --platform=linux/arm64 node:22 AS build", "node:22"],
    ["resolve image config for docker.io/docker/dockerfile:1", "docker/dockerfile:1"],
    ["resolve image config for docker-image://docker.io/docker/dockerfile:1", "docker/dockerfile:1"],
  ])("of an image that %s needs", (name, image) => {
    const failure = buildFailure("", { name, error: "pull access denied" });
    expect([failure.kind, failure.code, failure.message]).toEqual([
      "invalid",
      "base_image_missing",
      `Cannot build: the image ${image} is not on this machine and cannot be pulled (pull access denied). Pull it, or map it in BASE_IMAGES`,
    ]);
  });

  test("without a step returns the reason without the surrounding text", () => {
    const around = "failed to solve with frontend dockerfile.v0: failed to create LLB definition: ";
    expect(buildFailure(`${around}dockerfile parse error line 2: unknown instruction: FOO`).message).toBe(
      "Cannot build: dockerfile parse error line 2: unknown instruction: FOO",
    );
  });

  test("has a bounded length", () => {
    const long = "x".repeat(10_000);
    expect(buildFailure(long, { name: long, error: long }).message.length).toBeLessThan(700);
  });
});
