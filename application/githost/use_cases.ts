import type { ApplicationPorts } from "../application_ports.ts";
import { createRepository, removeRepository } from "./change_repositories.ts";
import { completeConnect } from "./complete_connect.ts";
import { connect } from "./connect.ts";
import { pollConnect } from "./device_logins.ts";
import { watchDeviceLogins } from "./watch_device_logins.ts";
import { disconnect } from "./disconnect.ts";
import { listRepositories } from "./list_repositories.ts";
import { listDeliveries } from "./list_deliveries.ts";
import { localStatus } from "./local_status.ts";
import { mintCloneToken } from "./mint_clone_token.ts";
import { findRepository, listBranches, listFiles, readRepositoryFile } from "./read_repository.ts";
import { readHome, readStatus } from "./read_status.ts";
import { receiveWebhook } from "./receive_webhook.ts";
import { sweepGitHost } from "./sweep_git_host.ts";
import { listWebhooks, registerWebhook, removeWebhook } from "./webhooks.ts";

export type GitHostUseCases = ReturnType<typeof gitHostUseCases>;

/** The use cases of the git host connection. */
export function gitHostUseCases(ports: ApplicationPorts) {
  const deviceLogins = watchDeviceLogins(ports);
  return {
    completeConnect: completeConnect(ports),
    connectGitHost: connect({ ...ports, deviceLoginStarted: deviceLogins.started }),
    createRepository: createRepository(ports),
    disconnectGitHost: disconnect(ports),
    findRepository: findRepository(ports),
    listBranches: listBranches(ports),
    listDeliveries: listDeliveries(ports),
    listFiles: listFiles(ports),
    listRepositories: listRepositories(ports),
    listWebhooks: listWebhooks(ports),
    mintCloneToken: mintCloneToken(ports),
    pollConnect: pollConnect(ports),
    readGitHostHome: readHome(ports),
    readGitHostStatus: readStatus(ports),
    readLocalStatus: localStatus(ports),
    readRepositoryFile: readRepositoryFile(ports),
    receiveWebhook: receiveWebhook(ports),
    registerWebhook: registerWebhook(ports),
    removeRepository: removeRepository(ports),
    removeWebhook: removeWebhook(ports),
    sweepGitHost: sweepGitHost(ports),
    watchDeviceLogins: deviceLogins.run,
  };
}
