import { describe, expect, test } from "bun:test";
import type { SourceFiles } from "../../../adapters/memory/sources.ts";
import type { ProjectSettings } from "../../../domain/projects/project.ts";
import { commit, EngineScene, REPOSITORY } from "../../support/apps/engine_scene.ts";

const PAGES: SourceFiles = { "public/index.php": "<?php", "composer.json": '{"require": {"slim/slim": "4.*"}}' };
const BUILT_IN = /^PHP_CLI_SERVER_WORKERS=4 php .* -S 0\.0\.0\.0:\$PORT -t public$/;
const WARNING = "PHP's built-in server, which is meant for development. Deploy it with Docker, where it runs on Apache";

/** Deploys a PHP project with a runtime; returns its log and the Dockerfile generated for it. */
async function deployed(runtime: "docker" | "process", settings: ProjectSettings = {}, files = PAGES) {
  await using scene = await EngineScene.open({ engine: { runtime } });
  scene.known.git[REPOSITORY] = { commits: [commit("a1", files)] };
  const { id, plan, status } = await scene.deployed(await scene.project({ gitUrl: REPOSITORY, ...settings }));
  const [request] = scene.memory.imageBuilder.requests;
  const dockerfile = (request?.dockerfile as { text: string } | undefined)?.text ?? "";
  return { status, plan, dockerfile, log: (await scene.log(id)).join("\n") };
}

describe("a PHP project", () => {
  test("is served by Apache on $PORT in a generated image, without a warning", async () => {
    const { status, plan, dockerfile, log } = await deployed("docker");
    expect([status, plan.startCommand]).toEqual(["ready", "apache2-foreground"]);
    expect(dockerfile).toMatch(/^FROM php:8\.4-apache-bookworm AS run$/m);
    expect(dockerfile).toContain("'Listen ${PORT}'");
    expect(dockerfile).toContain("'DocumentRoot /app/public'");
    expect(dockerfile).toContain('CMD ["/bin/sh","-c","exec apache2-foreground"]');
    expect(dockerfile).not.toContain("-S 0.0.0.0");
    expect(log).toContain('started by "apache2-foreground"');
    expect(log).not.toContain("built-in server");
  });

  test("runs on the built-in server as a process, with a warning in the log", async () => {
    const { status, plan, log } = await deployed("process");
    expect(status).toBe("ready");
    expect(plan.startCommand).toMatch(BUILT_IN);
    expect(log).toContain(WARNING);
  });

  test("is started by the command that is set, without a message about servers", async () => {
    const settings = { startCommand: "php bin/serve.php" };
    const inImage = await deployed("docker", settings);
    expect(inImage.dockerfile).toContain("exec php bin/serve.php");
    const asProcess = await deployed("process", settings);
    expect(asProcess.plan.startCommand).toBe("php bin/serve.php");
    expect(asProcess.log + inImage.log).not.toContain("built-in server");
  });

  test("uses the command of its runtime when the detected one of the other runtime is set", async () => {
    const { plan } = await deployed("process");
    const inImage = await deployed("docker", { startCommand: plan.startCommand! });
    expect(inImage.plan.startCommand).toBe("apache2-foreground");
    const asProcess = await deployed("process", { startCommand: "apache2-foreground" });
    expect(asProcess.plan.startCommand).toMatch(BUILT_IN);
  });

  test("is started by its Procfile, in an image too", async () => {
    const { plan, dockerfile, log } = await deployed("docker", {}, { ...PAGES, Procfile: "web: php bin/own.php" });
    expect(plan.startCommand).toBe("php bin/own.php");
    expect(dockerfile).toContain("exec php bin/own.php");
    expect(log).not.toContain("built-in server");
  });

  test.each(["docker", "process"] as const)("is served the same as one of several services: %s", async (runtime) => {
    const files = Object.fromEntries(Object.entries(PAGES).map(([path, text]) => [`web/${path}`, text]));
    const services = [{ name: "web", rootDirectory: "web", ports: ["8000"] }];
    const { status, dockerfile, log } = await deployed(runtime, { services } as ProjectSettings, files);
    expect(status).toBe("ready");
    expect(dockerfile.includes("exec apache2-foreground")).toBe(runtime === "docker");
    expect(log.includes(`web: Cannot use a production server for PHP here`)).toBe(runtime === "process");
  });
});
