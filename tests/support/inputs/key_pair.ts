import { utils } from "ssh2";

/** A fresh Ed25519 key pair in the OpenSSH format. */
export function keyPair(passphrase?: string): { readonly public: string; readonly private: string } {
  // ssh2 1.17 generates about one malformed key in 200, which neither it nor OpenSSH can read.
  for (;;) {
    const pair = utils.generateKeyPairSync(
      "ed25519",
      passphrase === undefined ? {} : { passphrase, cipher: "aes256-ctr", rounds: 4 },
    );
    if (!(utils.parseKey(pair.private, passphrase) instanceof Error)) return pair;
  }
}
