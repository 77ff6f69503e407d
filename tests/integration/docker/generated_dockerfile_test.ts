import { afterAll, describe, expect, test } from "bun:test";
import { generatedDockerfile, workingFolder } from "../../../domain/image/generated_dockerfile.ts";
import { builtImage, removeBuiltImages } from "../../support/peers/built_image.ts";
import { run } from "../../support/runner/command.ts";
import {
  DOCKERFILE_SCENES,
  type DockerfileScene,
  SCENE_SECRET,
  SECRET_SCENES,
  SITE_SCENE,
} from "../../support/inputs/dockerfile_requests.ts";
import { TEST_LABEL } from "../../support/runner/test_leftovers.ts";

const MINUTES = 60_000;
const SECRET_SCENE = SECRET_SCENES["secrets while installing and building"]!;

afterAll(removeBuiltImages);

function built({ request, files }: DockerfileScene, builder: "buildkit" | "classic") {
  return builtImage({
    files: Object.entries(files),
    dockerfile: (mounts) => generatedDockerfile({ ...request, mounts }),
    builder,
    secrets: new Map(request.secretNames.map((name) => [name, SCENE_SECRET])),
  });
}

/** The output of an image run with its own or another command. */
async function printed(image: string, ...command: readonly string[]): Promise<string> {
  const { ok, output, lastLine } = await run(["docker", "run", "--rm", "--label", TEST_LABEL, image, ...command]);
  expect({ ok, lastLine }).toEqual({ ok: true, lastLine: expect.any(String) });
  return output;
}

/** The scene with commands that write a different mark each time they run. */
function marked(environmentDigest: string): DockerfileScene {
  const commands = {
    install: "cat /proc/sys/kernel/random/uuid > marks",
    build: "cat /proc/sys/kernel/random/uuid >> marks",
    start: "cat marks",
  };
  return { ...SECRET_SCENE, request: { ...SECRET_SCENE.request, environmentDigest, commands } };
}

async function marks(environmentDigest: string): Promise<string[]> {
  const { image } = await built(marked(environmentDigest), "buildkit");
  return (await printed(image)).trim().split("\n");
}

/** Packages are installed in the same way by both builders, and that takes long. */
const ONLY_BUILDKIT = ["packages and tools"];

describe.each(["buildkit", "classic"] as const)("a generated Dockerfile, built by %s", (builder) => {
  const scenes = Object.entries(DOCKERFILE_SCENES);
  test.each(scenes.filter(([name]) => builder === "buildkit" || !ONLY_BUILDKIT.includes(name)))(
    "runs: %s",
    async (_, scene) => {
      const { image, port } = await built(scene, builder);
      expect(await printed(image)).toBe(scene.prints);
      expect(port).toBe(scene.request.port);
    },
    5 * MINUTES,
  );

  test(
    "has the result of a site in the working folder",
    async () => {
      const { image } = await built(SITE_SCENE, builder);
      expect(await printed(image, "cat", `${workingFolder(SITE_SCENE.request)}/dist/index.html`)).toBe("ahoy\n");
    },
    5 * MINUTES,
  );
});

describe("a generated Dockerfile with secrets", () => {
  test("passes them to the commands and leaves them nowhere", async () => {
    const { image, log } = await built(SECRET_SCENE, "buildkit");
    expect(await printed(image)).toBe(SECRET_SCENE.prints);
    const history = await run(["docker", "image", "history", "--no-trunc", image]);
    const details = await run(["docker", "image", "inspect", image]);
    expect(history.output + details.output).toContain("10001");
    expect(history.output + details.output + log).not.toContain("sesame");
  });

  test("rebuilds when they changed, and only then, without installing again", async () => {
    const [first, again, changed] = [await marks("a"), await marks("a"), await marks("b")];
    expect(again).toEqual(first);
    expect(changed[0]).toBe(first[0]!);
    expect(changed[1]).not.toBe(first[1]!);
  });
});
