import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DockerVolumes } from "../../../adapters/docker/containers/docker_volumes.ts";
import { EngineApi } from "../../../adapters/docker/engine/engine_api.ts";

const NAMES = ["small", "foreign-driver", "unmeasured"];

/** The volumes of a fake engine that has these three in every scope. `measure` responds to its size requests. */
async function volumesOf(measure: () => Response | Promise<Response>, answerMs?: number) {
  const folder = await mkdtemp(join(tmpdir(), "slipway-"));
  const socket = join(folder, "engine.sock");
  const requests: string[] = [];
  const server = Bun.serve({
    unix: socket,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (!pathname.endsWith("/volumes")) {
        requests.push(pathname.replace(/^\/v[\d.]+/, "") + search);
        return measure();
      }
      return Response.json({ Volumes: NAMES.map((name) => ({ Name: name, Labels: { "slipway.volume": name } })) });
    },
  });
  const engine = new EngineApi(`unix://${socket}`, answerMs === undefined ? {} : { answerMs });
  const dispose = async () => {
    await server.stop(true);
    await rm(folder, { recursive: true });
  };
  return { requests, volumes: new DockerVolumes({ engine, installation: "test" }), [Symbol.asyncDispose]: dispose };
}

test("measure() asks once for all scopes, and returns null for what the engine cannot measure", async () => {
  const sizes = [
    { Name: "small", UsageData: { Size: 12, RefCount: 1 } },
    { Name: "foreign-driver", UsageData: { Size: -1, RefCount: -1 } },
    { Name: "of another installation", UsageData: { Size: 9, RefCount: 1 } },
  ];
  await using scene = await volumesOf(() => Response.json({ Volumes: sizes }));
  const measured = await scene.volumes.measure(["prj_1", "dep_1"]);
  expect(measured.map(({ scope, name, sizeBytes }) => [scope, name, sizeBytes])).toEqual([
    ["prj_1", "small", 12],
    ["prj_1", "foreign-driver", null],
    ["prj_1", "unmeasured", null],
    ["dep_1", "small", 12],
    ["dep_1", "foreign-driver", null],
    ["dep_1", "unmeasured", null],
  ]);
  expect(scene.requests).toEqual(["/system/df?type=volume"]);
});

test.each<[string, () => Response | Promise<Response>]>([
  ["refuses", () => Response.json({ message: "a disk usage operation is already running" }, { status: 409 })],
  ["measures nothing", () => Response.json({ Volumes: null })],
  ["takes too long", () => new Promise<Response>(() => {})],
])("measure() returns the names of the volumes of an engine that %s", async (_, measure) => {
  await using scene = await volumesOf(measure, 1_500);
  const measured = await scene.volumes.measure(["prj_1"]);
  expect(measured.map(({ name, sizeBytes }) => [name, sizeBytes])).toEqual(NAMES.map((name) => [name, null]));
});
