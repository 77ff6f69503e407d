import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EngineApi } from "../../adapters/docker/engine/engine_api.ts";
import { DockerImageTransfer } from "../../adapters/docker/images/image_transfer.ts";
import { imageRequest } from "../contracts/image_builder.ts";
import { imageTransferContract } from "../contracts/image_transfer.ts";
import { oddEngine } from "../support/faults/odd_engine.ts";
import { type DistantEngine, distantEngine } from "../support/peers/distant_engine.ts";
import { BASE, type DockerImages, dockerImages } from "../support/peers/docker_images.ts";
import { DOCKER_HOST } from "../support/peers/docker_world.ts";

// From the engine of this machine to that of a server, over SSH.

const NOWHERE = new EngineApi("unix:///no/such/docker.sock");
const from = new EngineApi(DOCKER_HOST);

let distant: DistantEngine;
beforeAll(async () => {
  distant = await distantEngine();
});
afterAll(async () => {
  await distant?.[Symbol.asyncDispose]();
});

/** Builds an image with one layer for each text; the first line of its Dockerfile names what it is made from. */
async function made(own: DockerImages, first: string, texts: readonly string[]): Promise<string> {
  const files = Object.fromEntries(texts.map((text, index) => [`${index}`, text]));
  const lines = [first, ...texts.map((_, index) => `COPY ${index} /${index}`)];
  const folder = await own.folder(files);
  return (await own.builder.build(imageRequest({ folder, dockerfile: { text: `${lines.join("\n")}\n` } }))).image;
}

function to(engine: EngineApi): DockerImageTransfer {
  return new DockerImageTransfer({ from, to: engine });
}

const isThere = async (image: string) => (await distant.engine.known("GET", `/images/${image}/json`)) !== undefined;

imageTransferContract("Docker, to a server", async () => {
  await using opened = new AsyncDisposableStack();
  const own = opened.use(await dockerImages());
  const [refusing, hanging] = [opened.use(oddEngine("refuses")), opened.use(oddEngine("hangs"))];
  const lifetime = opened.move();
  return {
    transfer: to(distant.engine),
    away: { here: new DockerImageTransfer({ from: NOWHERE, to: distant.engine }), there: to(NOWHERE) },
    refusing: to(new EngineApi(refusing.host)),
    hanging: to(new EngineApi(hanging.host)),
    make: (texts) => made(own, `FROM ${BASE}`, texts),
    isThere,
    read: (image, path) => distant.server.docker(["run", "--rm", image, "cat", path]),
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
});

describe("DockerImageTransfer", () => {
  test("sends an image that shares nothing with those of the server", async () => {
    await using own = await dockerImages();
    const image = await made(own, "FROM scratch", ["one", "two"]);
    const lines: string[] = [];
    const transfer = to(distant.engine);
    await transfer.send(image, { signal: new AbortController().signal, log: (line) => void lines.push(line) });
    expect(lines).toEqual([expect.stringMatching(/^Sent the image to the server: 2 layers, \d+ kB$/)]);
    expect(await isThere(image)).toBe(true);
  });

  test("reports that the server cannot be reached, and sends the image once it can be", async () => {
    await using own = await dockerImages();
    const image = await made(own, `FROM ${BASE}`, ["text"]);
    const transfer = to(distant.engine);
    const options = { signal: new AbortController().signal, log: () => {} };
    await distant.server.stopEngine();
    await expect(transfer.send(image, options)).rejects.toMatchObject({ kind: "unavailable", code: "engine_away" });
    await distant.server.startEngine();
    await transfer.send(image, options);
    expect(await isThere(image)).toBe(true);
  });
});
