import { expect, test } from "bun:test";
import { openStorages } from "../../wiring/open_world.ts";
import { memoryApp } from "../support/apps/app.ts";

const PATH = "/api/backup-destinations";
const HOST = "storage.example.com";
const KINDS = [
  {
    name: "Bucket",
    kind: "s3_compatible",
    bucket: "backups",
    endpoint: `https://${HOST}`,
    forcePathStyle: true,
    accessKeyId: "id",
    secretAccessKey: "letmein",
  },
  { name: "Box", kind: "sftp", sshHost: HOST, sshUser: "me", sftpPassword: "letmein" },
];
const UNREACHABLE = { ok: false, code: "unreachable", reason: expect.stringMatching(/^write: Cannot .*name/) };

/** The application in cloud mode with the real storage adapters and the test's own name records. */
async function cloudApp() {
  const settings = { mode: "cloud", dataFolder: "/data/slipway", backupCaFile: undefined } as const;
  let storages: Awaited<ReturnType<typeof openStorages>> | undefined;
  const app = await memoryApp({ mode: "cloud" }, ({ nameRecords }) => ({
    objectStorages: { open: async (...of) => (storages ??= await openStorages(settings, nameRecords)).open(...of) },
  }));
  app.world.nameRecords.set(HOST, { addresses: ["93.184.215.14"] });
  const post = (path: string, body: object) => app.call("POST", path, { token: app.owner, body });
  return { ...app, post, silence: () => app.world.nameRecords.set(HOST, { silent: true }) };
}

test.each(KINDS)("a preflight of kind $kind whose name lookup fails reports it and is recorded", async (body) => {
  const app = await cloudApp();
  const { id } = (await app.post(PATH, body)).body.data;
  app.silence();
  const answer = await app.post(`${PATH}/${id}/preflight`, {});
  expect([answer.status, answer.body]).toEqual([200, UNREACHABLE]);
  const stored = (await app.call("GET", `${PATH}/${id}`, { token: app.owner })).body.data;
  expect([stored.lastVerifyError, stored.lastVerifiedAt]).toEqual([answer.body.reason, null]);
});

test.each(KINDS)("a preflight of a draft of kind $kind whose name lookup fails reports it", async (body) => {
  const app = await cloudApp();
  app.silence();
  const answer = await app.post(`${PATH}/preflight`, body);
  expect([answer.status, answer.body]).toEqual([200, UNREACHABLE]);
});
