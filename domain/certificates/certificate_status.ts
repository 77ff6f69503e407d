import { certificateIsFor } from "./certificate_names.ts";
import type { ChainFault, Handshake, NoCertificateCause, PresentedCertificate, UnreachableCause } from "./handshake.ts";

/**
 * How the certificate of a host name is. `none` and `unreachable` mean that none was presented. Browsers accept `valid`
 * and `expiring`, and refuse the others.
 */
export type CertificateStatusName = "none" | "valid" | "expiring" | "expired" | "mismatch" | "unreachable";

/** How the certificate of a host name is, and what a person should do next. */
export interface CertificateStatus {
  readonly status: CertificateStatusName;
  /** What is wrong and what to do about it; `null` if nothing is. */
  readonly reason: string | null;
  /** `null` if none was presented. */
  readonly certificate: PresentedCertificate | null;
  /** Full days until it expires, negative afterwards; `null` without a certificate. */
  readonly daysLeft: number | null;
  /** Whether it leads to an authority that browsers know; `null` without a certificate. */
  readonly chainValid: boolean | null;
}

/** What a status depends on besides the handshake. */
export interface StatusOptions {
  readonly hostname: string;
  /** The address and port that the handshake was with, for people. */
  readonly place: string;
  readonly now: Date;
}

const DAY_MS = 86_400_000;
const EXPIRING_MS = 14 * DAY_MS;
const SHOWN_NAMES = 5;

/**
 * Judges a handshake. Where several things are wrong, the status is the first of these, and the reason names them all:
 *
 * 1. `mismatch`: the certificate is for other names, so that its dates say nothing about this name.
 * 2. `expired`: its time is over, whoever signed it.
 * 3. `mismatch`: it is not valid yet, or browsers do not trust its chain. It is in date and for this name, but a browser
 *    refuses it as it does one for another name; `valid` or `expiring` would promise a page that opens.
 *
 * An accepted certificate is `expiring` when it has less than 14 days left, or less than a third of its life if that is
 * shorter: by then an automatic renewal has failed for some time, and a certificate of six days is not always expiring.
 */
export function certificateStatus(handshake: Handshake, options: StatusOptions): CertificateStatus {
  if (handshake.kind !== "presented") {
    const { kind: status } = handshake;
    const sentence = status === "none" ? NO_CERTIFICATE[handshake.cause] : UNREACHABLE[handshake.cause];
    return { status, reason: sentence(options), certificate: null, daysLeft: null, chainValid: null };
  }
  const { certificate, chainFault } = handshake;
  const { status, reasons } = judged(certificate, chainFault, options);
  return {
    status,
    reason: reasons.length > 0 ? reasons.join(". ") : null,
    certificate,
    daysLeft: Math.floor((certificate.notAfter.getTime() - options.now.getTime()) / DAY_MS),
    chainValid: chainFault === null,
  };
}

/** The statuses by how bad they are for visitors, worst first. An address may be unreachable only from here. */
const WORST_FIRST: readonly CertificateStatusName[] = [
  "mismatch",
  "expired",
  "none",
  "expiring",
  "valid",
  "unreachable",
];

/** Returns the worst of the statuses of one host name at its addresses: some visitors get that one. */
export function worstStatus(statuses: readonly CertificateStatus[]): CertificateStatus | undefined {
  return statuses.toSorted((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status))[0];
}

function judged(
  { names, notBefore, notAfter }: PresentedCertificate,
  chainFault: ChainFault | null,
  { hostname, place, now }: StatusOptions,
): { readonly status: CertificateStatusName; readonly reasons: readonly string[] } {
  const isForHost = certificateIsFor(names, hostname);
  const leftMs = notAfter.getTime() - now.getTime();
  const isEarly = now < notBefore;
  const reasons = [
    ...(isForHost ? [] : [wrongNames(names, hostname, place)]),
    ...(leftMs < 0 ? [`The certificate expired on ${day(notAfter)}. Renew it`] : []),
    ...(isEarly
      ? [`The certificate is not valid before ${notBefore.toISOString()}. Check the clocks, or wait until then`]
      : []),
    ...(chainFault === null ? [] : [CHAIN_FAULT[chainFault]]),
  ];
  if (!isForHost) return { status: "mismatch", reasons };
  if (leftMs < 0) return { status: "expired", reasons };
  if (reasons.length > 0) return { status: "mismatch", reasons };
  if (leftMs >= Math.min(EXPIRING_MS, (notAfter.getTime() - notBefore.getTime()) / 3))
    return { status: "valid", reasons };
  const sentence = `The certificate expires on ${day(notAfter)}. Renew it, and check why it was not renewed automatically`;
  return { status: "expiring", reasons: [sentence] };
}

function wrongNames(names: readonly string[], hostname: string, place: string): string {
  const next = `Check that the DNS records of "${hostname}" lead to the right server, and that it has a certificate for it`;
  if (names.length === 0) return `The certificate at ${place} names no host at all. ${next}`;
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : "";
  return `The certificate at ${place} is for ${names.slice(0, SHOWN_NAMES).join(", ")}${more}. ${next}`;
}

function day(at: Date): string {
  return at.toISOString().slice(0, 10);
}

const CHAIN_FAULT: Readonly<Record<ChainFault, string>> = {
  self_signed:
    "The server has signed the certificate itself, so browsers do not trust it. Have one issued by a certificate authority",
  incomplete:
    "Browsers do not trust the certificate, because the server sends it alone. Have it send the certificates of the authorities too (the full chain)",
  unknown_authority:
    "Browsers do not trust the certificate, because they do not know the authority that issued it. Have one issued by a public certificate authority",
  authority_expired:
    "The certificate of an authority in the chain is out of date. Have the server send the current chain of its authority",
  broken:
    "Browsers do not accept the chain of certificates. Have a new certificate issued, and install it with its chain",
};

const NO_CERTIFICATE: Readonly<Record<NoCertificateCause, (options: StatusOptions) => string>> = {
  no_tls: ({ place }) => `The server at ${place} does not speak TLS properly. Have this port lead to an HTTPS server`,
  outdated_tls: ({ place }) =>
    `The server at ${place} speaks only versions of TLS that browsers refuse. Enable TLS 1.2 or 1.3 there`,
  declined: ({ hostname, place }) =>
    `The server at ${place} refuses TLS connections for "${hostname}". Check that it has a certificate for this name`,
  closed: ({ hostname, place }) =>
    `The server at ${place} closes the connection without a certificate. Check that it serves "${hostname}" over HTTPS`,
};

const UNREACHABLE: Readonly<Record<UnreachableCause, (options: StatusOptions) => string>> = {
  name_missing: ({ hostname }) =>
    `"${hostname}" has no address. Publish an A or AAAA record that leads to the server, then wait until it is known`,
  lookup_failed: ({ hostname }) =>
    `No name server could look "${hostname}" up. Check the name servers of the domain, then try again`,
  refused: ({ place }) => `Nothing listens at ${place}. Start the HTTPS server, or have the port forwarded to it`,
  no_route: ({ place }) => `There is no way to ${place} from here. Check the DNS records and the network`,
  no_answer: ({ place }) =>
    `The server at ${place} does not answer in time. Check that it runs and that no firewall blocks the port`,
};
