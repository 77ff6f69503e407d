import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { GitSources } from "../../adapters/git/git_sources.ts";
import { DispatchingSources } from "../../adapters/dispatch/dispatching_sources.ts";
import { LocalFolderSources } from "../../adapters/local/local_folder_sources.ts";
import { LocalUploadFiles } from "../../adapters/local/upload_files.ts";
import { UploadSources } from "../../adapters/local/upload_sources.ts";
import { MemorySources } from "../../adapters/memory/sources.ts";
import { Secret } from "../../domain/secret.ts";
import { OpenSshServer } from "../support/peers/openssh_server.ts";
import { GitServer } from "../support/peers/git_server.ts";
import { file, streamOf, tarGz } from "../support/inputs/tar_archive.ts";
import { COMMITS, FEATURE, LOCAL_FILES, PASSWORD, sourcesContract, UPLOADED_FILES } from "../contracts/sources.ts";

sourcesContract("memory", async () => {
  const shas = { first: "1".repeat(40), last: "2".repeat(40), feature: "3".repeat(40) };
  const commits = [
    { ...COMMITS.last, sha: shas.last, branches: ["main"] },
    { ...COMMITS.first, sha: shas.first, branches: [] },
    { ...COMMITS.feature, sha: shas.feature, branches: [FEATURE] },
  ];
  const sshUrl = "ssh://git@git.test:2222/shop.git";
  const server = { hostKey: "ssh-ed25519 AAAAC3Nz", authorizedKey: "" };
  const ssh = {
    url: sshUrl,
    host: "git.test:2222",
    authorize: async (publicKey: string) => void (server.authorizedKey = publicKey),
    hostKey: () => server.hostKey,
    changeHostKey: async () => void (server.hostKey = `${server.hostKey}AAAA`),
  };
  const disk = new Map<string, Record<string, string>>();
  const sources = new MemorySources(
    {
      git: {
        "https://git.test/open": { commits },
        [sshUrl]: { commits, ssh: server },
        "https://git.test/closed": { commits, credential: new Secret(PASSWORD) },
      },
      local: { "/srv/site": LOCAL_FILES },
      upload: { upl_one: UPLOADED_FILES },
    },
    (folder, path, content) => disk.set(folder, { ...disk.get(folder), [path]: content }),
  );
  let folders = 0;
  return {
    sources,
    newFolder: async () => `/folder/${(folders += 1)}`,
    filesIn: async (folder) => disk.get(folder) ?? {},
    repository: { url: "https://git.test/open", shas },
    privateUrl: "https://git.test/closed",
    missingUrl: "https://git.test/missing",
    ssh,
    localPath: "/srv/site",
    uploadId: "upl_one",
    async [Symbol.asyncDispose]() {},
  };
});

sourcesContract("git, local folders and uploads", async () => {
  const root = await mkdtemp(join(tmpdir(), "slipway-"));
  const server = await GitServer.start();
  const shas = await furnish(server, "open");
  await furnish(server, "closed", PASSWORD);
  const sshd = await OpenSshServer.start();
  const { files, message } = COMMITS.last;
  await (await sshd.repository("shop")).commit(files, { message });
  const uploads = new LocalUploadFiles(join(root, "data/uploads"));
  const archive = streamOf(tarGz(Object.entries(UPLOADED_FILES).map(([path, content]) => file(path, content))));
  const limits = { maxBytes: 10_000, maxUnpackedBytes: 100_000, maxEntries: 100 };
  await uploads.receive("upl_one", archive, { limits });
  for (const [path, content] of Object.entries(LOCAL_FILES)) {
    await mkdir(dirname(join(root, "site", path)), { recursive: true });
    await writeFile(join(root, "site", path), content);
  }
  return {
    sources: new DispatchingSources({
      git: new GitSources({ knownHostsFile: join(root, "data/git/known_hosts"), allowHttp: true }),
      local: new LocalFolderSources({ dataFolder: join(root, "data") }),
      upload: new UploadSources(uploads),
    }),
    newFolder: () => mkdtemp(join(root, "release-")),
    filesIn,
    repository: { url: server.url("open"), shas },
    privateUrl: server.url("closed"),
    missingUrl: server.url("missing"),
    ssh: {
      url: sshd.url("shop"),
      host: sshd.host,
      authorize: (publicKey) => sshd.authorize(publicKey),
      hostKey: () => sshd.hostKey,
      changeHostKey: () => sshd.restart(),
    },
    localPath: join(root, "site"),
    uploadId: "upl_one",
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await sshd[Symbol.asyncDispose]();
      await rm(root, { recursive: true });
    },
  };
});

async function furnish(server: GitServer, name: string, password?: string) {
  const repository = await server.repository(name, password === undefined ? {} : { password });
  const { first, last, feature } = COMMITS;
  return {
    first: await repository.commit(first.files, { message: `${first.message}\n\nin detail` }),
    last: await repository.commit(last.files, { message: last.message }),
    feature: await repository.commit({ ...feature.files, src: null }, { message: feature.message, branch: FEATURE }),
  };
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const path of await readdir(folder, { recursive: true })) {
    if ((await lstat(join(folder, path))).isFile()) files[path] = await readFile(join(folder, path), "utf8");
  }
  return files;
}
