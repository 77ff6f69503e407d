/** OpenSSH's server, where Debian and most others install it; that folder is not on every user's `PATH`. */
export const SSHD = Bun.which("sshd") ?? "/usr/sbin/sshd";
