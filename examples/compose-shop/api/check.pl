use strict;
use warnings;
use IO::Socket::INET;

my $api = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => 3000, Timeout => 2) or exit 1;
print $api "GET /api/orders HTTP/1.0\r\n\r\n";
exit((<$api> // '') =~ / 200 / ? 0 : 1);
