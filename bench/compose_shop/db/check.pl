use strict;
use warnings;
use IO::Socket::INET;

my $db = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => 6379, Timeout => 2) or exit 1;
print $db "*2\r\n\$3\r\nGET\r\n\$6\r\nschema\r\n";
exit((<$db> // '') =~ /^\$/ ? 0 : 1);
