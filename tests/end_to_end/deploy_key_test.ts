import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestProject } from "../support/apps/deploying.ts";
import { eventually } from "../support/eventually.ts";
import { OpenSshServer } from "../support/peers/openssh_server.ts";
import { folderText, watchProcesses } from "../support/places_of_leaks.ts";
import { SlipwayProcess } from "../support/servers/slipway_process.ts";

/** How every private key in OpenSSH's format begins, in base64. */
const PRIVATE_KEY = /OPENSSH PRIVATE KEY|b3BlbnNzaC1rZXktdjE/;

describe("a project of an SSH server", () => {
  let server: OpenSshServer;
  let slipway: SlipwayProcess;
  let root: string;
  let temporary: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "slipway-"));
    temporary = join(root, "tmp");
    await mkdir(temporary);
    server = await OpenSshServer.start();
    slipway = await SlipwayProcess.start({ TMPDIR: temporary });
  });
  afterAll(async () => {
    await slipway?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });

  const clients = async () => (await readdir(temporary)).filter((name) => name.startsWith("slipway-ssh-"));

  test("is deployed with a deploy key that is on no disk, and refuses another host key until told", async () => {
    const repository = await server.repository("site");
    await repository.commit({ "index.html": "<h1>Moored</h1>" });
    const project = await TestProject.create(slipway, { name: "Site", gitUrl: server.url("site") });
    const path = `/api/projects/${project.id}/deploy-key`;

    const refused = await project.settled(await project.deploy());
    expect(refused).toMatchObject({ status: "failed", error: { step: "fetch", code: "git_auth_failed" } });
    expect(refused.error.message).toContain(`Make a deploy key with POST ${path}`);

    const { publicKey } = (await project.call("POST", path, { body: {} })).body.data;
    const unknown = await project.settled(await project.deploy());
    expect(unknown.error.message).toEndWith(`Add this public key there, with read access: ${publicKey}`);

    await server.authorize(publicKey);
    using watched = watchProcesses(/\0main\.ts|slipway-server/);
    const held = await server.hold();
    const id = await project.deploy();
    await eventually(
      async () => server.log,
      (log) => log.includes("Accepted publickey"),
    );
    expect(await clients()).toHaveLength(1);
    const places = [await folderText(slipway.folder), await folderText(temporary), ...watched.environments];
    expect([...places, ...watched.commands].join("\n")).not.toMatch(PRIVATE_KEY);
    await held[Symbol.asyncDispose]();
    await project.deployed(id);
    expect(await project.page()).toBe("<h1>Moored</h1>");
    expect(await clients()).toEqual([]);
    const { hostKeys } = (await project.call("GET", path)).body.data;
    expect(hostKeys).toMatchObject([{ host: server.host, fingerprint: server.fingerprint }]);

    const former = server.fingerprint;
    await server.restart();
    await repository.commit({ "index.html": "<h1>Under way</h1>" });
    const changed = await project.settled(await project.deploy());
    expect(changed.error.code).toBe("git_host_key_changed");
    for (const part of [former, server.fingerprint, `DELETE ${path}/host-keys/${server.host}`])
      expect(changed.error.message).toContain(part);
    expect(await project.page()).toBe("<h1>Moored</h1>");
    expect((await project.call("DELETE", `${path}/host-keys/${server.host}`)).status).toBe(200);
    await project.deployed();
    expect(await project.page()).toBe("<h1>Under way</h1>");

    expect(await project.log(id)).not.toMatch(PRIVATE_KEY);
    expect(slipway.program.stdout + slipway.program.stderr).not.toMatch(PRIVATE_KEY);
    expect(await folderText(root)).not.toMatch(PRIVATE_KEY);
  });
});
