import { utils } from "ssh2";

/** A fresh Ed25519 key pair in the OpenSSH format. */
export function keyPair(passphrase?: string): { readonly public: string; readonly private: string } {
  // One in two hundred keys that ssh2 1.17 makes is malformed: neither it nor OpenSSH can read it.
  for (;;) {
    const pair = utils.generateKeyPairSync(
      "ed25519",
      passphrase === undefined ? {} : { passphrase, cipher: "aes256-ctr", rounds: 4 },
    );
    if (!(utils.parseKey(pair.private, passphrase) instanceof Error)) return pair;
  }
}
