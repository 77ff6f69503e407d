import { describe, expect, test } from "bun:test";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { detectProject } from "../../application/projects/uploads/detect_project.ts";
import type { Detection } from "../../domain/detection/detection.ts";
import { patientYamlReader } from "../support/faults/patient_yaml_reader.ts";

function found(
  files: Readonly<Record<string, string>>,
  { engine = true, runtimePreset = "auto" }: { engine?: boolean; runtimePreset?: "auto" | "docker" | "process" } = {},
): Promise<Detection> {
  const paths = Object.keys(files).toSorted();
  const ports = {
    containerEngine: { answers: async () => engine },
    manifestParser: new LibraryManifestParser(),
    runtimePreset,
    yamlReader: patientYamlReader(),
  };
  return detectProject(ports, {
    async *entries() {
      for (const path of paths) yield { path, type: "file" as const, size: files[path]!.length };
    },
    read: async (path) => (files[path] === undefined ? undefined : new TextEncoder().encode(files[path])),
  });
}

describe("detectProject()", () => {
  test.each([
    ["a Dockerfile", { Dockerfile: "FROM scratch" }, "it is built by Dockerfile"],
    ["an image", { "compose.yaml": "services: {db: {image: postgres}}" }, "its service db needs the image postgres"],
  ])("warns of %s when no engine answers, and when processes are requested", async (_, files, why) => {
    const without = await found(files, { engine: false });
    expect(without.warnings[0]).toBe(
      `Cannot deploy this without Docker: ${why}, and no Docker engine answers. ` +
        "Install Docker and start it (on Debian: apt-get install docker.io), or check DOCKER_HOST",
    );
    const asProcess = await found(files, { runtimePreset: "process" });
    expect(asProcess.warnings[0]).toBe(
      `Cannot run this as a process: ${why}. Set the runtime of the project to "docker"`,
    );
    expect((await found(files)).warnings.join()).not.toMatch(/Docker engine|as a process/);
  });

  test("does not warn of a missing engine when none is needed", async () => {
    const { warnings } = await found({ "index.html": "Hi" }, { engine: false });
    expect(warnings.join()).not.toContain("Docker");
  });

  test("reports what serves PHP, and warns of the built-in server when it runs as a process", async () => {
    const files = { "index.php": "<?php" };
    const inImage = await found(files);
    expect([inImage.startCommand, inImage.warnings]).toEqual(["apache2-foreground", []]);
    for (const setting of [{ engine: false }, { runtimePreset: "process" as const }]) {
      const { startCommand, warnings } = await found(files, setting);
      expect(startCommand).toContain("-S 0.0.0.0:$PORT");
      expect(warnings).toEqual([expect.stringContaining("built-in server, which is meant for development")]);
    }
  });

  test("follows what a compose file includes, extends and is overridden by", async () => {
    const { projectType, services, warnings } = await found({
      "compose.yaml": "include: [db.yaml]\nservices:\n  web:\n    extends: {file: base.yaml, service: app}\n",
      "compose.override.yaml": "services: {web: {ports: ['8080:80']}}",
      "base.yaml": "services: {app: {build: {context: ./app, dockerfile: Dockerfile.prod}}}",
      "db.yaml": "services: {db: {image: 'postgres:16', expose: ['5432']}}",
      "app/Dockerfile.prod": "FROM nginx",
    });
    expect(projectType).toBe("services");
    expect(services).toEqual([
      { name: "web", rootDirectory: "app", dockerfile: "Dockerfile.prod", port: 80 },
      { name: "db", rootDirectory: null, image: "postgres:16", port: 5432 },
    ]);
    expect(warnings).toEqual([expect.stringContaining("public endpoints")]);
  });

  test("uses only the services of included files", async () => {
    const { projectType, services } = await found({
      "compose.yaml": "include: [db/compose.yaml]\n",
      "db/compose.yaml": "services: {db: {image: postgres, volumes: ['./init:/init:ro']}}",
    });
    expect(projectType).toBe("services");
    expect(services).toEqual([{ name: "db", rootDirectory: null, image: "postgres" }]);
  });

  test("warns of problems with file and line, and reports what it can", async () => {
    const { services, warnings } = await found({
      "compose.yaml": "services:\n  web:\n    image: nginx\n    privileged: true\n",
    });
    expect(services).toEqual([{ name: "web", rootDirectory: null, image: "nginx" }]);
    expect(warnings).toEqual([expect.stringMatching(/^compose\.yaml:4: Cannot use "privileged" of web: /)]);
  });

  test("warns of a missing folder", async () => {
    const { services, warnings } = await found({ "compose.yaml": "services: {web: {build: ./gone, expose: [80]}}" });
    expect(services).toEqual([{ name: "web", rootDirectory: "gone", port: 80 }]);
    expect(warnings).toEqual(["Cannot build web: there is no folder gone. Correct its build context"]);
  });

  test("uses a compose file that cannot be read, and reports what is wrong with it", async () => {
    const { projectType, warnings } = await found({
      "compose.yaml": 'services:\n  web:\n    image: "nginx\n    ports: ["80"]\n',
      "index.html": "",
      "web/Dockerfile": "FROM scratch",
    });
    expect(projectType).toBe("services");
    expect(warnings).toEqual([expect.stringMatching(/^compose\.yaml:3: Cannot read this: a character is missing/)]);
  });

  test("reports a compose file in a folder relative to that folder", async () => {
    const { rootDirectory, services } = await found({
      "shop/compose.yaml": "services: {web: {build: ./web}, all: {build: .}}",
      "shop/web/Dockerfile": "FROM nginx",
      "shop/Dockerfile": "FROM nginx",
    });
    expect(rootDirectory).toBe("shop");
    expect(services).toEqual([
      { name: "web", rootDirectory: "web" },
      { name: "all", rootDirectory: null },
    ]);
  });
});
