import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { EngineApi } from "../../adapters/docker/engine/engine_api.ts";
import { ImageNames } from "../../adapters/docker/images/image_names.ts";
import { DockerReleaseImages } from "../../adapters/docker/images/release_images.ts";
import { eventually } from "../support/eventually.ts";
import { endlessAnswer, scriptedEngine } from "../support/faults/scripted_engine.ts";
import { failureOf } from "../contracts/image_builder.ts";

const SOON = { answerMs: 1_000 };
/** Gives the first requests enough time, but soon gives up long operations of the engine. */
const BUSY_SOON = { answerMs: 20_000, longAnswerMs: 1_000 };
const INSTALLATION = "test";
const OWNER = { deploymentId: "dep_1", projectId: "prj_1", service: "app" };

describe("an engine that accepts requests and does not answer", () => {
  test.each([
    ["remove()", (images: DockerReleaseImages) => images.remove(OWNER.deploymentId)],
    ["trim()", (images: DockerReleaseImages) => images.trim(1_000)],
  ])("%s of images gives up after a while", async (_, ask) => {
    const name = new ImageNames(INSTALLATION).of(OWNER);
    await using world = await scriptedEngine((question) => {
      if (question === "GET /images/json") return Response.json([{ Id: "sha256:0", RepoTags: [name], Size: 1 }]);
      return question === "GET /containers/json" ? Response.json([]) : undefined;
    }, BUSY_SOON);
    const images = new DockerReleaseImages({ engine: world.engine, installation: INSTALLATION });
    expect((await failureOf(ask(images))).code).toBe("engine_away");
    expect(world.requests.at(-1)).toBeOneOf([`DELETE /images/${name}`, "POST /images/prune"]);
  });

  test("archive() gives up after a while, hangs up and removes its container", async () => {
    const { response, left } = endlessAnswer("x".repeat(100));
    await using world = await scriptedEngine((question) => {
      if (question === "POST /containers/create") return Response.json({ Id: "c1" });
      return question === "GET /containers/c1/archive" ? response : new Response(null, { status: 204 });
    }, SOON);
    const images = new DockerReleaseImages({ engine: world.engine, installation: INSTALLATION });
    expect((await failureOf(images.archive("sha256:0", "/app"))).code).toBe("engine_away");
    await left;
    expect(world.requests.at(-1)).toBe("DELETE /containers/c1");
  });

  test("json() gives up after a while, and hangs up", async () => {
    const { response, left } = endlessAnswer("[1,");
    await using world = await scriptedEngine(() => response, SOON);
    expect((await failureOf(world.engine.json("GET", "/info"))).code).toBe("engine_away");
    await left;
  });

  test("json() ends with the reason of its signal, even in the middle of a response", async () => {
    const { response, left } = endlessAnswer("[1,");
    await using world = await scriptedEngine(() => response, { answerMs: 60_000 });
    const stop = new AbortController();
    const answer = world.engine.json("GET", "/info", { signal: stop.signal }).catch((error: unknown) => error);
    await eventually(
      async () => world.requests,
      ({ length }) => length === 1,
    );
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await answer).toBe(reason);
    await left;
  });

  test("connect() gives up after a while", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { readonly port: number };
    const engine = new EngineApi(`https://127.0.0.1:${port}`, SOON);
    expect((await failureOf(engine.connect())).code).toBe("engine_away");
    silent.close();
  });
});
