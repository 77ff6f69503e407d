import { join } from "node:path";
import { ArgonPasswords } from "../adapters/crypto/passwords.ts";
import { CryptoVault } from "../adapters/crypto/vault.ts";
import { DnsNameRecords } from "../adapters/dns/name_records.ts";
import { DockerContainerEngine } from "../adapters/docker/engine/container_engine.ts";
import { DockerImageBuilder } from "../adapters/docker/build/image_builder.ts";
import { DockerImageRegistry } from "../adapters/docker/images/image_registry.ts";
import { DockerReleaseImages } from "../adapters/docker/images/release_images.ts";
import { DockerRuntime } from "../adapters/docker/containers/docker_runtime.ts";
import { DockerSockets } from "../adapters/docker/containers/docker_sockets.ts";
import { DockerVolumes } from "../adapters/docker/containers/docker_volumes.ts";
import { DockerServiceNetworks } from "../adapters/docker/networks/service_networks.ts";
import { DockerEngineInventories } from "../adapters/docker/inventory/engine_inventories.ts";
import { EngineApi } from "../adapters/docker/engine/engine_api.ts";
import { startEmbeddedPostgres } from "../adapters/embedded_postgres/embedded_postgres.ts";
import { runningEmbeddedPostgres } from "../adapters/embedded_postgres/running_embedded_postgres.ts";
import { GitSources } from "../adapters/git/git_sources.ts";
import { GhLogin } from "../adapters/githost/gh_login.ts";
import { OctokitAccounts } from "../adapters/githost/octokit_accounts.ts";
import { OctokitClients } from "../adapters/githost/octokit_clients.ts";
import { OctokitCommitStatuses } from "../adapters/githost/octokit_commit_statuses.ts";
import { OctokitHooks } from "../adapters/githost/octokit_hooks.ts";
import { OctokitPullRequestComments } from "../adapters/githost/octokit_pull_request_comments.ts";
import { OctokitRepositories } from "../adapters/githost/octokit_repositories.ts";
import { HttpCloudApi } from "../adapters/cloud/cloud_api.ts";
import { HttpCloudGitHost } from "../adapters/cloud/cloud_git_host.ts";
import { DispatchingObjectStorages } from "../adapters/dispatch/dispatching_object_storages.ts";
import { DispatchingRuntime } from "../adapters/dispatch/dispatching_runtime.ts";
import { CombinedSealedRows } from "../adapters/dispatch/combined_sealed_rows.ts";
import { DispatchingSockets } from "../adapters/dispatch/dispatching_sockets.ts";
import { DispatchingSources } from "../adapters/dispatch/dispatching_sources.ts";
import { LocalHostFolders } from "../adapters/local/host_folders.ts";
import { LocalFolderSources } from "../adapters/local/local_folder_sources.ts";
import { LocalKeptSources } from "../adapters/local/kept_sources.ts";
import { LocalObjectStorages } from "../adapters/local/object_storages.ts";
import { LocalReleaseFolders } from "../adapters/local/release_folders.ts";
import { systemUser } from "../adapters/local/system_user.ts";
import { ownDataFolder } from "../adapters/local/own_data_folder.ts";
import { LocalUploadFiles } from "../adapters/local/upload_files.ts";
import { UploadSources } from "../adapters/local/upload_sources.ts";
import { LibraryManifestParser } from "../adapters/manifests/manifest_parser.ts";
import { LibraryYamlReader } from "../adapters/yaml/library_yaml_reader.ts";
import { migrate } from "../adapters/postgres/migrate.ts";
import { postgresWorld } from "../adapters/postgres/postgres_world.ts";
import { NetworkHealthProbe } from "../adapters/probe/health_probe.ts";
import { SocketWebTexts } from "../adapters/probe/socket_web_texts.ts";
import { ProcessBuilder } from "../adapters/process/builder.ts";
import { ProcessSockets } from "../adapters/process/process_sockets.ts";
import { ProcessRuntime } from "../adapters/process/runtime.ts";
import { SealedInstances } from "../adapters/process/sealed_instances.ts";
import { authoritiesOf } from "../adapters/shared/authorities.ts";
import { S3ObjectStorages } from "../adapters/s3/object_storages.ts";
import { SshServerConnections } from "../adapters/ssh/engine/server_connections.ts";
import { SshRemoteHosts } from "../adapters/ssh/remote_hosts.ts";
import { SftpObjectStorages } from "../adapters/ssh/sftp/object_storages.ts";
import { NodeTlsProbe } from "../adapters/tls/node_tls_probe.ts";
import { recordedRuntime, type RecordedRuntimePorts } from "../application/services/recorded_runtime.ts";
import type { Config } from "../config.ts";
import { openEdge } from "./open_edge.ts";
import { openAuthority } from "./open_authority.ts";
import { SshServerEngines, type SshServerEnginesOptions } from "./server_engines.ts";
import { Failure } from "../domain/failure.ts";
import { isPublicAddress } from "../domain/network_address.ts";
import type { Log } from "../ports/system/log.ts";
import type { NameRecords } from "../ports/domains/name_records.ts";
import type { ObjectStorages } from "../ports/backups/object_storages.ts";

/** How a process uses the installation: as its server, or next to a server that may be running. */
export type ProcessRole = "server" | "guest";

/** Opens every real adapter. Disposing closes them, the embedded database last. */
export async function openWorld(config: Config, log: Log, role: ProcessRole = "server") {
  await using opened = new AsyncDisposableStack();
  await ownDataFolder(config.dataFolder);
  const url = await databaseUrl({ config, log, role: role }, opened);
  await migrate(url);
  const vault = await CryptoVault.load(keysOf(config));
  const stores = opened.use(await postgresWorld({ url, vault }));
  const nameRecords = new DnsNameRecords({});
  const objectStorages = await openStorages(config, nameRecords);
  const certificateAuthority = await openAuthority(config, stores.authorityAccounts);
  const { installation } = stores;
  const id = await installation.id();
  const containers = openContainers(config, id, { log, nameRecords });
  opened.use(containers.runtime);
  const usesContainers = () => installation.usesContainers();
  const servers = openServers(config, nameRecords, opened);
  const parts = { ...stores, ...servers, installation: id, log, localEngine: containers.engine };
  const serverEngines = openServerEngines(config, parts, opened);
  const running = openRuntime(config, {
    containers: containers.runtime,
    serverEngines,
    log,
    nameRecords,
    stores,
    usesContainers,
    vault,
  });
  opened.use(running.processes);
  opened.use(running.runtime);
  const lifetime = opened.move();
  return {
    ...stores,
    ...running,
    ...openGitHost(config),
    certificateAuthority,
    containers: containers.runtime,
    imageBuilder: containers.imageBuilder,
    imageRegistry: containers.imageRegistry,
    releaseImages: containers.releaseImages,
    serviceNetworks: containers.serviceNetworks,
    volumes: containers.volumes,
    clock: { now: () => new Date() },
    containerEngine: new DockerContainerEngine(config.dockerHost),
    hostFolders: new LocalHostFolders(),
    instanceSockets: new DispatchingSockets({ folder: running.processSockets, image: containers.sockets }),
    log,
    manifestParser: new LibraryManifestParser(),
    yamlReader: new LibraryYamlReader(),
    nameRecords,
    objectStorages,
    passwords: new ArgonPasswords(),
    tlsProbe: new NodeTlsProbe(),
    webTexts: new SocketWebTexts(),
    sealedRows: new CombinedSealedRows([running.sealedInstances, stores.sealedRows]),
    ...servers,
    serverEngines,
    vault,
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** Opens the container engines of servers. */
function openServerEngines(
  { dataFolder }: Config,
  parts: Omit<SshServerEnginesOptions, "folder">,
  opened: AsyncDisposableStack,
): SshServerEngines {
  return opened.use(new SshServerEngines({ ...parts, folder: join(dataFolder, "containers") }));
}

/** Opens the adapters that reach other machines. In cloud mode, only at public addresses. */
function openServers({ dataFolder, mode }: Config, nameRecords: NameRecords, opened: AsyncDisposableStack) {
  const addressGuard = mode === "cloud" ? { resolveAddress: publicAddress(nameRecords) } : {};
  return {
    engineInventories: new DockerEngineInventories(),
    remoteHosts: new SshRemoteHosts(addressGuard),
    serverConnections: opened.use(new SshServerConnections({ folder: join(dataFolder, "servers"), ...addressGuard })),
  };
}

/** Opens the adapters of the git host. Nothing of it is asked or loaded before it is used. */
function openGitHost({ githostApiUrl, githostApp, githostOAuth, githostToken, githostUrl }: Config) {
  const clients = new OctokitClients({
    apiUrl: githostApiUrl,
    webUrl: githostUrl,
    app: githostApp && { id: String(githostApp.id), privateKey: githostApp.privateKey },
    oauth: githostOAuth,
  });
  return {
    cloudApi: new HttpCloudApi(),
    cloudGitHost: new HttpCloudGitHost(),
    commitStatuses: new OctokitCommitStatuses(clients),
    commandLineLogin: new GhLogin({ webUrl: githostUrl, token: githostToken }),
    gitAccounts: new OctokitAccounts(clients),
    gitHooks: new OctokitHooks(clients),
    gitRepositories: new OctokitRepositories(clients),
    pullRequestComments: new OctokitPullRequestComments(clients),
  };
}

/** Opens the adapters that build and run images. An absent engine shows only on use. */
function openContainers(
  { dataFolder, dockerHost, mode }: Config,
  installation: string,
  { log, nameRecords }: { readonly log: Log; readonly nameRecords: NameRecords },
) {
  const engine = new EngineApi(dockerHost);
  const releaseImages = new DockerReleaseImages({ engine, installation });
  const addressGuard = mode === "cloud" ? { checkHost: publicAddress(nameRecords) } : {};
  return {
    engine,
    imageBuilder: new DockerImageBuilder({ engine, installation }),
    imageRegistry: new DockerImageRegistry({ engine, installation, images: releaseImages, ...addressGuard }),
    releaseImages,
    runtime: new DockerRuntime({
      engine,
      installation,
      folder: join(dataFolder, "containers"),
      log,
      watchOnStart: true,
    }),
    serviceNetworks: new DockerServiceNetworks({ engine, installation }),
    sockets: new DockerSockets({ engine, installation }),
    volumes: new DockerVolumes({ engine, installation }),
  };
}

/** Opens the adapters that fetch, build, run and serve deployments. */
function openRuntime(
  config: Config,
  { containers, log, nameRecords, serverEngines, stores, usesContainers, vault }: RuntimeParts,
) {
  const { dataFolder, githostUrl, mode } = config;
  const inData = (name: string) => join(dataFolder, name);
  const uploadFiles = new LocalUploadFiles(inData("uploads"));
  const resolveAddress = mode === "cloud" ? { resolveAddress: publicAddress(nameRecords) } : {};
  const user = systemUser("slipway-app");
  const instances = inData("instances");
  const processes = new ProcessRuntime({ folder: instances, user, vault, log });
  const runtimes = new DispatchingRuntime({
    folder: processes,
    image: containers,
    usesContainers,
    servers: serverEngines,
  });
  return {
    builder: new ProcessBuilder({ folder: inData("builds"), cacheFolder: inData("cache"), user }),
    edge: openEdge(config, log),
    healthProbe: new NetworkHealthProbe(),
    keptSources: new LocalKeptSources(inData("sources")),
    releaseFolders: new LocalReleaseFolders(inData("releases")),
    processes,
    processSockets: new ProcessSockets(instances),
    sealedInstances: new SealedInstances({ folder: instances, vault }),
    instanceEndings: runtimes,
    runtime: recordedRuntime(runtimes, { ...stores, log }),
    sources: new DispatchingSources({
      git: new GitSources({
        knownHostsFile: inData("known_hosts"),
        // A project's own git URL must be encrypted; for the git host the operator may choose plain HTTP.
        allowHttp: githostUrl.startsWith("http:"),
        ...resolveAddress,
      }),
      local: new LocalFolderSources({ dataFolder }),
      upload: new UploadSources(uploadFiles),
    }),
    uploadFiles,
  };
}

/** Opens backup storages of every kind. In cloud mode, only at public addresses. */
export async function openStorages(
  { mode, dataFolder, backupCaFile }: Pick<Config, "mode" | "dataFolder" | "backupCaFile">,
  nameRecords: NameRecords,
): Promise<ObjectStorages> {
  const addressGuard = mode === "cloud" ? { resolveAddress: publicAddress(nameRecords) } : {};
  return new DispatchingObjectStorages({
    bucket: new S3ObjectStorages({ ...addressGuard, authorities: await authoritiesOf("BACKUP_CA_FILE", backupCaFile) }),
    remoteFolder: new SftpObjectStorages(addressGuard),
    localFolder: new LocalObjectStorages({ dataFolder }),
  });
}

interface RuntimeParts {
  readonly serverEngines: SshServerEngines;
  readonly containers: DockerRuntime;
  readonly usesContainers: () => Promise<boolean>;
  readonly log: Log;
  readonly nameRecords: NameRecords;
  readonly stores: Omit<RecordedRuntimePorts, "log">;
  readonly vault: CryptoVault;
}

async function databaseUrl(
  { config, log, role }: { readonly config: Config; readonly log: Log; readonly role: ProcessRole },
  opened: AsyncDisposableStack,
): Promise<string> {
  if (config.databaseUrl) return config.databaseUrl.reveal();
  const running = role === "guest" ? await runningEmbeddedPostgres(config.dataFolder) : undefined;
  if (running) return running;
  const onExit = (reason: string) => log.write("warn", "The embedded database exited and is restarted", { reason });
  return opened.use(await startEmbeddedPostgres({ folder: config.dataFolder, user: systemUser("slipway"), onExit }))
    .url;
}

function keysOf({ dataFolder, secretKey, previousSecretKeys }: Config) {
  return { folder: dataFolder, current: secretKey?.reveal(), previous: previousSecretKeys.map((key) => key.reveal()) };
}

/** Resolves a host to the address to connect to, after verifying that it is public. This prevents DNS rebinding. */
function publicAddress(nameRecords: NameRecords): (host: string) => Promise<string> {
  return async function (host) {
    const addresses = await nameRecords.addresses(host).catch(asUnreachable);
    const [first] = addresses;
    if (first === undefined)
      throw new Failure("remote_failed", "unreachable", "Cannot connect: the host name does not resolve");
    if (!addresses.every(isPublicAddress)) {
      throw new Failure("remote_failed", "unreachable", "Cannot connect: only public addresses can be used here");
    }
    return first;
  };
}

/** Converts a failed DNS lookup to an unreachable host. */
function asUnreachable(error: unknown): never {
  if (!(error instanceof Failure && error.code === "name_lookup_failed")) throw error;
  const sentence = "Cannot connect: no name server could look the host name up. Check the name, then try again";
  throw new Failure("remote_failed", "unreachable", sentence, { cause: error });
}
