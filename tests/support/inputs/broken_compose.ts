import { expect } from "bun:test";
import { rm } from "node:fs/promises";
import type { SourceFolder, TestProject } from "../apps/deploying.ts";

const BROKEN: Readonly<Record<string, string>> = {
  "an unclosed quote": 'services:\n  web:\n    image: "web\n    ports: ["80"]\n',
  "a tab": "services:\n\tweb: { image: web }\n",
  "a merge conflict": "services:\n<<<<<<< HEAD\n  web:\n=======\n  api:\n>>>>>>> b\n",
};

/**
 * Deploys malformed compose files. Expects each to fail with file name and line, while the live version keeps serving.
 */
export async function expectBrokenComposeRefused(project: TestProject, source: SourceFolder): Promise<void> {
  for (const text of Object.values(BROKEN)) {
    await source.write({ "docker-compose.yml": text });
    const failed = await project.settled(await project.deploy());
    expect(failed).toMatchObject({ status: "failed", error: { code: "compose_invalid" } });
    expect(failed.error.message).toMatch(/docker-compose\.yml:\d+: /);
    expect(await project.page()).toBe("v1");
  }
  await rm(`${source.path}/docker-compose.yml`);
}
