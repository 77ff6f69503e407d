import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { MemoryBuilder } from "../../adapters/memory/builder.ts";
import { builderOn, dataFolder, workingSandboxes } from "../support/apps/process_world.ts";
import { builderContract } from "../contracts/builder.ts";

builderContract("memory", async () => ({
  builder: new MemoryBuilder({
    talking: { prints: ["one", "two"] },
    failing: { prints: ["failing"], exitCode: 3 },
    lacking: { prints: ["sh: 1: slipway-no-such-tool: not found"], exitCode: 127 },
    endless: { prints: ["waiting"], hangs: true },
  }),
  folder: "/no/such/folder",
  commands: { talking: "talking", failing: "failing", lacking: "lacking", endless: "endless" },
  async [Symbol.asyncDispose]() {},
}));

for (const kind of await workingSandboxes()) {
  builderContract(`process (${kind})`, async () => {
    const data = await dataFolder(kind);
    const folder = join(data, "releases", "dep_1");
    await mkdir(folder, { recursive: true });
    return {
      builder: builderOn(data, kind),
      folder,
      commands: {
        talking: "echo one; echo two",
        failing: "echo failing; exit 3",
        lacking: "slipway-no-such-tool --version",
        endless: "trap '' TERM; echo waiting; while :; do sleep 600; done",
      },
      [Symbol.asyncDispose]: () => rm(data, { recursive: true }),
    };
  });
}
